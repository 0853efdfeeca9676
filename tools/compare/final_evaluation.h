// The number that a run is judged by: its loss on held-out documents at its
// last step.
//
// What it is: the line of RUN/eval.jsonl for the last step of metrics.jsonl,
// or, where the run was not evaluated just then, the same evaluation done now
// on the checkpoint of that step. What it is not: the last training loss, which
// is that of one batch, and another batch for each seed. Why so: a run need not
// have been trained with a comparison in mind, and must not be judged by a loss
// of an earlier step for that.
#ifndef LOCKSTEP_TOOLS_COMPARE_FINAL_EVALUATION_H_
#define LOCKSTEP_TOOLS_COMPARE_FINAL_EVALUATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

struct FinalEvaluation {
  double loss = 0;  // nats a token
  int64_t step = 0;
  int64_t tokens_seen = 0;  // by training
  int64_t tokens = 0;       // of the evaluation
  int64_t samples = 0;
  // Of `loss` as an estimate for all text, over the evaluation's samples.
  std::optional<double> standard_error = {};
  bool evaluated_now = false;
};

// InputError: no run, no step done, nothing held out, or neither an evaluation
// nor a checkpoint of the last step. `threads` 0: the machine's.
absl::StatusOr<FinalEvaluation> FinalEvaluationOf(FileSystem& fs,
                                                  const std::string& run_dir,
                                                  int64_t threads);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_FINAL_EVALUATION_H_
