// The verbs that look at files and train nothing: recipe, ckpt, trace.
#include <string>

#include "tools/cli_verb.h"
#include "tools/verbs.h"

namespace lockstep {

CLI::App* Verb(CLI::App& parent, const std::string& name,
               const std::string& what, const std::string& example) {
  CLI::App* verb = parent.add_subcommand(name, what);
  verb->footer("Example:\n  " + example);
  return verb;
}

namespace {

void AddRecipeVerb(CLI::App& recipe, RecipeOptions& o, Run& run,
                   const char* name, const char* what,
                   absl::StatusOr<Answer> (*function)(const RecipeOptions&)) {
  CLI::App* verb =
      Verb(recipe, name, what,
           std::string("lockstep recipe ") + name + " recipes/debug.toml");
  verb->add_option("recipe", o.recipe, "a TOML file")->required();
  if (std::string_view(name) == "diff") {
    verb->add_option("other", o.other, "another recipe")->required();
  }
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback(
      [&o, &run, function] { run = [&o, function] { return function(o); }; });
}

}  // namespace

void AddRecipe(CLI::App& app, RecipeOptions& o, Run& run) {
  CLI::App* recipe = app.add_subcommand("recipe", "check, show, diff, keys");
  recipe->require_subcommand(1);
  AddRecipeVerb(*recipe, o, run, "check", "all errors of a recipe at once",
                RecipeCheckVerb);
  AddRecipeVerb(*recipe, o, run, "show",
                "the resolved recipe, each value with its source",
                RecipeShowVerb);
  AddRecipeVerb(*recipe, o, run, "diff", "the keys in which two recipes differ",
                RecipeDiffVerb);
  CLI::App* keys = Verb(*recipe, "keys", "every key, its range and default",
                        "lockstep recipe keys");
  keys->callback([&run] { run = [] { return RecipeKeysVerb(); }; });
}

void AddCkpt(CLI::App& app, CkptOptions& o, Run& run) {
  CLI::App* ckpt =
      app.add_subcommand("ckpt", "list, show, verify, diff, reshard");
  ckpt->require_subcommand(1);
  CLI::App* list = Verb(*ckpt, "list", "the checkpoints of a run",
                        "lockstep ckpt list runs/debug-0123abcd");
  CLI::App* show = Verb(*ckpt, "show", "what is in a checkpoint",
                        "lockstep ckpt show runs/debug-0123abcd");
  CLI::App* verify =
      Verb(*ckpt, "verify",
           "whether every byte holds; of a run also its ledger and manifests",
           "lockstep ckpt verify runs/debug-0123abcd");
  CLI::App* diff =
      Verb(*ckpt, "diff", "which tensors differ, where and how far",
           "lockstep ckpt diff runs/a runs/b");
  CLI::App* reshard =
      Verb(*ckpt, "reshard", "the same state, cut as another layout saves it",
           "lockstep ckpt reshard runs/debug-0123abcd --layout "
           "data=2,tensor=2,pipeline=1 --output resharded");
  for (CLI::App* verb : {list, show, verify, diff, reshard}) {
    verb->add_option("path", o.path, "a run's folder or a checkpoint's")
        ->required();
    verb->add_flag("--json", o.json, "one JSON object on stdout");
  }
  list->add_flag("--verify", o.verify, "read every byte");
  diff->add_option("other", o.other, "another")->required();
  diff->add_flag("--quick", o.quick,
                 "believe the indices: read only where they differ");
  reshard->add_option("--layout", o.layout, "data=N,tensor=N,pipeline=N")
      ->required();
  reshard->add_option("--output", o.output, "a folder that does not exist")
      ->required();
  list->callback([&] { run = [&] { return CkptListVerb(o); }; });
  show->callback([&] { run = [&] { return CkptShowVerb(o); }; });
  verify->callback([&] { run = [&] { return CkptVerifyVerb(o); }; });
  diff->callback([&] { run = [&] { return CkptDiffVerb(o); }; });
  reshard->callback([&] { run = [&] { return CkptReshardVerb(o); }; });
}

void AddTrace(CLI::App& app, TraceVerbs& verbs, Run& run) {
  TraceShowOptions& o = verbs.show;
  TraceDiffOptions& d = verbs.diff;
  CLI::App* trace = app.add_subcommand("trace", "show, diff");
  trace->require_subcommand(1);
  CLI::App* show =
      Verb(*trace, "show", "the records of a trace",
           "lockstep trace show RUN/traces/rank_0.step_00000000.trace");
  show->add_option("file", o.file, "a trace file")->required();
  show->add_option("--scope", o.scope, "only this module path");
  show->add_option("--step", o.step, "only this step");
  show->add_flag("--json", o.json, "one JSON object a line on stdout");
  show->callback([&] { run = [&] { return TraceShowVerb(o); }; });
  CLI::App* diff =
      Verb(*trace, "diff", "the operation at which two traces part",
           "lockstep trace diff RUN_A/traces RUN_B/traces");
  diff->add_option("a", d.a, "a folder of traces, or a run")->required();
  diff->add_option("b", d.b, "another")->required();
  CLI::Option* tolerance = diff->add_flag(
      "--tolerance", d.tolerance,
      "of other kernels or another precision: where the difference grows; "
      "needs trace.values");
  diff->add_option("--growth", d.growth, "with --tolerance: from so many-fold")
      ->needs(tolerance)
      ->check(CLI::Range(1.0, 1e12));
  diff->add_flag("--json", d.json,
                 "one JSON object on stdout; trace_diff.h and tolerance.h of "
                 "tools/trace_diff have it");
  diff->callback([&] { run = [&] { return TraceDiffVerb(d); }; });
}

}  // namespace lockstep
