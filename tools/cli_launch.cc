// `lockstep launch`: its options and an example.
#include "tools/cli_verb.h"

namespace lockstep {

void AddLaunch(CLI::App& app, LaunchOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "launch",
           "starts ranks with mpirun, watches them, and goes on after failures",
           "lockstep launch recipes/debug.toml --hosts hosts.txt\n"
           "  lockstep launch recipes/debug.toml --np 2");
  TrainOptions& t = o.train;
  verb->add_option("recipe", t.recipe, "a TOML file")->required();
  verb->add_option("--hosts", o.hosts,
                   "a file with NAME slots=N a line; read again at need");
  verb->add_option("--np", o.np, "so many ranks on this machine")
      ->transform(Whole(1, 4096));
  verb->add_option("--retries", o.retries,
                   "failures without a new checkpoint in between")
      ->transform(Whole(0, 1000));
  verb->add_option("--mpirun", o.mpirun, "the launcher's program");
  verb->add_option("--mpirun-arg", o.mpirun_args, "for it; repeatable")
      ->take_all()
      ->expected(1);
  verb->add_option("--set", t.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--run", t.run_dir,
                   "the run's folder (runs/<recipe>-<hash>)");
  verb->add_option("--until", t.until, "stop after this step, resumable")
      ->transform(Whole(1, INT64_MAX));
  verb->add_option("--allow", t.allow, "as `train` has it")->delimiter(',');
  verb->add_option("--reason", t.reason, "why they are allowed; recorded");
  verb->add_option("--fault", t.faults, "break on purpose: kind=...,step=...")
      ->take_all()
      ->expected(1);
  verb->add_option("--threads", t.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_option("--rank-timeout", t.rank_timeout_s,
                   "seconds until a silent rank is lost, before "
                   "watchdog.timeout_s")
      ->transform(Whole(1, 86'400));
  verb->add_option("--step-timeout", t.step_timeout_s,
                   "seconds until a rank in one step is lost")
      ->transform(Whole(1, 86'400));
  verb->add_flag("--json", t.json, "one JSON object on stdout");
  verb->add_flag("--quiet", t.quiet, "no display");
  verb->callback([&] { run = [&] { return LaunchVerb(o); }; });
}

}  // namespace lockstep
