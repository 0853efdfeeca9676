// `lockstep bench`: its options and an example.
#include "tools/cli_verb.h"

namespace lockstep {

void AddBench(CLI::App& app, BenchVerbOptions& o, Run& run) {
  CLI::App* verb = Verb(
      app, "bench", "rates of one part, each beside a probe of the same minute",
      "lockstep bench order");
  verb->add_option("name", o.name, "order or prepare")->required();
  verb->add_option("--peer", o.peer, "somebody else's code to compare with");
  verb->add_option("--scratch", o.scratch, "a folder for temporary files");
  verb->add_option("--threads", o.threads, "at most so many compute threads")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return BenchVerb(o); }; });
}

}  // namespace lockstep
