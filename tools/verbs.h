// The verbs of the `lockstep` command, as functions of plain options.
//
// What it is: what the command line asks for, after parsing. What it is not:
// parsing (cli.cc) or the work itself. Why so: tests call a verb as a user
// would, without a process, and the command-line library is compiled once.
#ifndef LOCKSTEP_TOOLS_VERBS_H_
#define LOCKSTEP_TOOLS_VERBS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lockstep {

// What a verb answers: text for stdout (with --json one JSON object), and
// whether it is a negative verdict (exit 1).
struct Answer {
  std::string text;
  bool negative = false;
};

struct TrainOptions {
  std::string recipe;
  std::vector<std::string> sets;
  std::string run_dir;  // empty: runs/<recipe>-<8 of trajectory>
  std::optional<int64_t> until;
  std::string resume = "auto";  // auto, must, never, or a checkpoint's folder
  std::string fork;             // a checkpoint's folder: begin a new run
  std::vector<std::string> allow;
  std::string reason;
  std::vector<std::string> faults;
  std::vector<std::string> skip_samples;  // "A-B", both inclusive
  int64_t threads = 0;                    // 0: OMP_NUM_THREADS, else the cores
  int64_t ranks = 1;           // as threads; a launcher brings its own
  int64_t rank_timeout_s = 0;  // of a collective; 0: watchdog.timeout_s
  int64_t step_timeout_s = 0;  // 0: a step may take any time
  bool json = false;
  bool quiet = false;
};
absl::StatusOr<Answer> TrainVerb(const TrainOptions& options);

struct EvalOptions {
  std::string run_dir;
  std::string recipe;
  std::vector<std::string> sets;
  std::string checkpoint;   // empty: the newest that verifies
  int64_t micro_batch = 0;  // 0: the recipe's
  std::string text;         // a file for the text that was scored
  int64_t threads = 0;
  bool json = false;
};
absl::StatusOr<Answer> EvalVerb(const EvalOptions& options);

struct GenerateVerbOptions {
  std::string run_dir;
  std::string checkpoint;
  std::string prompt;
  int64_t tokens = 200;
  double temperature = 0.8;
  int64_t seed = 0;
  int64_t threads = 0;
  bool json = false;
};
absl::StatusOr<Answer> GenerateVerb(const GenerateVerbOptions& options);

struct StatusOptions {
  std::string run_dir;
  bool json = false;
};
absl::StatusOr<Answer> StatusVerb(const StatusOptions& options);
struct ExplainOptions {
  std::string run_dir;
  int64_t step = 0;
  int64_t window = 8;  // steps before it, whose samples it is compared with
  bool from_seed = false;
  bool full = false;  // whole texts, all samples in detail
  int64_t threads = 0;
  bool json = false;  // see explain_report.h
};
absl::StatusOr<Answer> ExplainVerb(const ExplainOptions& options);

struct RecipeOptions {
  std::string recipe;
  std::string other;  // of diff
  std::vector<std::string> sets;
  bool json = false;
};
absl::StatusOr<Answer> RecipeCheckVerb(const RecipeOptions& options);
absl::StatusOr<Answer> RecipeShowVerb(const RecipeOptions& options);
absl::StatusOr<Answer> RecipeDiffVerb(const RecipeOptions& options);
// Every key there is, with type, range, default and help.
absl::StatusOr<Answer> RecipeKeysVerb();

struct DataPrepareOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string tokenizer = "byte";
  int64_t document_bytes = 0;
  std::string field;
  bool json = false;
  bool quiet = false;
};
absl::StatusOr<Answer> DataPrepareVerb(const DataPrepareOptions& options);

struct TrainTokenizerVerbOptions {
  std::vector<std::string> inputs;
  std::string output;
  int64_t vocab = 0;
  std::string type = "bpe";
  std::string field;
  uint64_t sample_bytes = uint64_t{64} << 20;
  bool json = false;
};
absl::StatusOr<Answer> TrainTokenizerVerb(
    const TrainTokenizerVerbOptions& options);

struct DataInspectOptions {
  std::string prefix;
  bool json = false;
};
absl::StatusOr<Answer> DataInspectVerb(const DataInspectOptions& options);
absl::StatusOr<Answer> DataVerifyVerb(const DataInspectOptions& options);

struct DataOrderOptions {
  std::string recipe = {};
  std::vector<std::string> sets = {};
  std::string run_dir = {};  // its skip list, its steps, its data; may be empty
  int64_t from = 1;          // steps, both inclusive
  std::optional<int64_t> to = {};  // absent: from
  bool json = false;
};
// With --json one object a line: step, rank, samples.
absl::StatusOr<Answer> DataOrderVerb(const DataOrderOptions& options);

struct CkptOptions {
  std::string path = {};    // a run's folder or a checkpoint's
  std::string other = {};   // of diff: another
  std::string layout = {};  // of reshard: data=2,tensor=1,pipeline=1
  std::string output = {};  // of reshard: a folder that does not exist
  bool verify = false;      // of list: reads every byte
  bool quick = false;       // of diff: does not read what seems equal
  bool json = false;
};
absl::StatusOr<Answer> CkptListVerb(const CkptOptions& options);
absl::StatusOr<Answer> CkptShowVerb(const CkptOptions& options);
// Negative: damage. Of a run also its ledger and manifests.
absl::StatusOr<Answer> CkptVerifyVerb(const CkptOptions& options);
// Negative: the states differ.
absl::StatusOr<Answer> CkptDiffVerb(const CkptOptions& options);
absl::StatusOr<Answer> CkptReshardVerb(const CkptOptions& options);

struct PlanOptions {
  std::string recipe = {};
  std::vector<std::string> sets = {};
  int64_t world = 1;
  std::string hosts = {};  // a file; empty: see ranks_per_host
  std::optional<int64_t> ranks_per_host = {};
  std::vector<std::string> lost = {};  // names of hosts
  int64_t memory_bytes = 0;            // a rank's; 0: unknown
  bool json = false;
};
absl::StatusOr<Answer> PlanVerb(const PlanOptions& options);

struct BenchVerbOptions {
  std::string name;
  std::string peer;
  std::string scratch;  // a folder for files; empty: the system's
  std::string only;     // cases whose name has this in it
  std::string recipe;   // of step; empty: hybrid_100m
  std::vector<std::string> sets;
  int64_t threads = 1;
  int64_t rounds = 0;  // 0: the bench's own
  int64_t ranks = 2;   // of comm, as threads
  bool json = false;
};
absl::StatusOr<Answer> BenchVerb(const BenchVerbOptions& options);

struct DoctorVerbOptions {
  std::string folder = ".";  // where runs will be: its file system is probed
  int64_t threads = 0;
  bool canary = false;        // break what each check looks at
  bool fault_points = false;  // list where --fault can act, and do no more
  bool json = false;
};
// Negative: the machine is unsound, or a canary does not fire.
absl::StatusOr<Answer> DoctorVerb(const DoctorVerbOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_VERBS_H_
