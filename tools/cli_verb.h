// What the files of the command line share. Inside the command only.
//
// What it is: the shape of a verb while it is parsed. What it is not: for
// anyone but cli*.cc: CLI11 is slow to compile and stays there.
#ifndef LOCKSTEP_TOOLS_CLI_VERB_H_
#define LOCKSTEP_TOOLS_CLI_VERB_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/audit_verbs.h"
#include "tools/compare/compare_verb.h"
#include "tools/compare/seeds_verb.h"
#include "tools/diff/diff_verb.h"
#include "tools/launch/launch_verb.h"
#include "tools/operation_verb.h"
#include "tools/tax_verb.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {

// A verb: its options live as long as the parser.
using Run = std::function<absl::StatusOr<Answer>()>;

// A subcommand with an example below its help.
CLI::App* Verb(CLI::App& parent, const std::string& name,
               const std::string& what, const std::string& example);

// For Option::transform: admits whole numbers from `least` to `most`, as
// decimal digits. The parser by itself would saturate a number that is too
// large, and read 010 as eight.
CLI::Validator Whole(int64_t least, int64_t most);

// Of a number of compute threads.
inline CLI::Validator Threads() { return Whole(1, 1024); }

// What the parser would take for something else than was meant: an option with
// nothing behind its `=`, or followed by another option where its value should
// be. "" if there is nothing of the kind (cli_arguments.cc).
std::string ArgumentMistake(CLI::App& app,
                            const std::vector<std::string>& arguments);

// `data` and its verbs (cli_data.cc).
struct DataVerbs {
  DataPrepareOptions prepare;
  DataInspectOptions inspect;
  DataOrderOptions order;
  TrainTokenizerVerbOptions train_tokenizer;
};
void AddData(CLI::App& app, DataVerbs& o, Run& run);
void AddEval(CLI::App& app, EvalOptions& o, Run& run);
void AddGenerate(CLI::App& app, GenerateVerbOptions& o, Run& run);
void AddExplain(CLI::App& app, ExplainOptions& o, Run& run);
void AddReplay(CLI::App& app, ReplayVerbOptions& o, Run& run);
void AddBisect(CLI::App& app, BisectVerbOptions& o, Run& run);
void AddLaunch(CLI::App& app, LaunchOptions& o, Run& run);
void AddVerify(CLI::App& app, VerifyOptions& o, Run& run);
void AddRecipe(CLI::App& app, RecipeOptions& o, Run& run);
void AddCkpt(CLI::App& app, CkptOptions& o, Run& run);
void AddTrace(CLI::App& app, TraceVerbs& verbs, Run& run);
void AddPlan(CLI::App& app, PlanOptions& o, Run& run);
void AddBench(CLI::App& app, BenchVerbOptions& o, Run& run);
void AddTax(CLI::App& app, TaxVerbOptions& o, Run& run);
// The machine, or one operation on it.
struct DoctorVerbs {
  DoctorVerbOptions examine;
  OperationVerbOptions operation;
};
void AddDoctor(CLI::App& app, DoctorVerbs& verbs, Run& run);
void AddCompare(CLI::App& app, CompareOptions& o, Run& run);
void AddSeeds(CLI::App& app, SeedsOptions& o, Run& run);
void AddDiff(CLI::App& app, DiffOptions& o, Run& run);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_CLI_VERB_H_
