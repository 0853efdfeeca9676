// `lockstep plan`: its options and an example.
#include "tools/cli_verb.h"
#include "tools/plan/plan.h"

namespace lockstep {

void AddPlan(CLI::App& app, PlanOptions& o, Run& run) {
  CLI::App* verb = Verb(
      app, "plan", "every layout that a number of ranks can have; its costs",
      "lockstep plan recipes/hybrid_8b_tp4_pp2_dp4.toml --world 32 "
      "--ranks-per-host 8 --lost host2");
  verb->add_option("recipe", o.recipe, "a TOML file")->required();
  verb->add_option("--world", o.world, "ranks that there are, lost ones too")
      ->required()
      ->transform(Whole(1, kMostPlannedRanks));
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--hosts", o.hosts, "a file with NAME slots=N a line");
  verb->add_option("--ranks-per-host", o.ranks_per_host,
                   "of hosts alike: host0, host1, ...")
      ->transform(Whole(1, kMostPlannedRanks));
  verb->add_option("--lost", o.lost, "a host whose ranks are gone")
      ->take_all()
      ->expected(1);
  verb->add_option("--memory", o.memory_bytes, "bytes that a rank may take")
      ->transform(Whole(1, INT64_MAX));
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return PlanVerb(o); }; });
}

}  // namespace lockstep
