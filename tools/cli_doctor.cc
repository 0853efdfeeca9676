// `lockstep doctor`: its options and an example.
#include "determinism/status.h"
#include "tools/cli_verb.h"

namespace lockstep {

void AddDoctor(CLI::App& app, DoctorVerbs& verbs, Run& run) {
  DoctorVerbOptions& o = verbs.examine;
  CLI::App* verb =
      Verb(app, "doctor",
           "does this machine compute, store and tell time as it must",
           "lockstep doctor --folder runs");
  verb->add_option("--folder", o.folder,
                   "a folder whose file system is probed (.)");
  verb->add_option("--threads", o.threads, "compute threads")
      ->transform(Whole(0, 1024));
  verb->add_flag("--canary", o.canary,
                 "break what each check looks at: every check must fire");
  verb->add_flag("--fault-points", o.fault_points,
                 "list where and how train --fault can break a run");
  verb->add_option("--operation", verbs.operation.file,
                   "an operation.safetensors of bisect's: do it again at every "
                   "level, and say which run left the same");
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&verbs, &run] {
    run = [&verbs] {
      if (verbs.operation.file.empty()) return DoctorVerb(verbs.examine);
      if (verbs.examine.canary || verbs.examine.fault_points) {
        return absl::StatusOr<Answer>(
            InputError("--operation examines one operation, not the machine",
                       "--operation " + verbs.operation.file,
                       "leave out --canary and --fault-points"));
      }
      verbs.operation.threads = verbs.examine.threads;
      verbs.operation.json = verbs.examine.json;
      return OperationVerb(verbs.operation);
    };
  });
}

}  // namespace lockstep
