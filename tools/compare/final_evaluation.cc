#include "tools/compare/final_evaluation.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/status.h"
#include "tools/evaluation.h"
#include "tools/foreign_json.h"
#include "tools/status.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// The last whole line of a file of a run; null where there is no such file.
absl::StatusOr<Json> LastLineOf(FileSystem& fs, const std::string& path) {
  if (!fs.Exists(path)) return Json();
  LS_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
  return LastLine(text);
}

bool IsOfStep(const Json& line, int64_t step) {
  return WholeField(line, "step") == step && NumberField(line, "loss");
}

std::optional<double> Known(double error) {
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

// The evaluation that the run's own config asks for, at `step`.
absl::StatusOr<FinalEvaluation> EvaluateStep(FileSystem& fs,
                                             const std::string& run_dir,
                                             int64_t step, int64_t threads) {
  const std::string checkpoint =
      JoinPath(CheckpointsDir(run_dir), CheckpointName(step));
  if (!fs.Exists(checkpoint)) {
    return InputError(
        absl::StrCat("the run was not evaluated at its last step, ", step,
                     ", and has no checkpoint of it"),
        run_dir,
        "train it to its end, which saves, or with an eval.every that divides "
        "its steps");
  }
  LS_ASSIGN_OR_RETURN(const Manifest manifest,
                      ManifestOfStep(fs, run_dir, step));
  LS_ASSIGN_OR_RETURN(RunConfig config,
                      StoredConfig(fs, run_dir, manifest, {}));
  config.parallel = {};  // one rank reads any layout
  LS_ASSIGN_OR_RETURN(const auto data,
                      OpenStoredData(fs, run_dir, manifest, config));
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(threads));
  LS_ASSIGN_OR_RETURN(
      const auto model,
      TrainedModel::Load(fs, config, run_dir, checkpoint, machine, data.get()));
  LS_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      Evaluate(model->stepper(), config.eval.samples, config.batch.micro));
  return FinalEvaluation{.loss = evaluation.loss,
                         .step = step,
                         .tokens_seen = 0,
                         .tokens = evaluation.tokens,
                         .samples = evaluation.samples,
                         .standard_error = Known(evaluation.standard_error),
                         .evaluated_now = true};
}

}  // namespace

absl::StatusOr<FinalEvaluation> FinalEvaluationOf(FileSystem& fs,
                                                  const std::string& run_dir,
                                                  int64_t threads) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const Json last,
                      LastLineOf(fs, run_dir + "/metrics.jsonl"));
  const std::optional<int64_t> done = WholeField(last, "step");
  if (!done) {
    return last.is_null()
               ? InputError("the run has done no step",
                            run_dir + "/metrics.jsonl", "train it first")
               : InputError("its last line has no step",
                            run_dir + "/metrics.jsonl",
                            "it was written to by something else than a "
                            "trainer, or is damaged");
  }
  const int64_t step = *done;
  LS_ASSIGN_OR_RETURN(const Json line, LastLineOf(fs, run_dir + "/eval.jsonl"));
  FinalEvaluation result;
  if (IsOfStep(line, step)) {
    result = {.loss = *NumberField(line, "loss"),
              .step = step,
              .tokens = WholeField(line, "tokens").value_or(0),
              .samples = WholeField(line, "samples").value_or(0),
              .standard_error = NumberField(line, "standard_error")};
  } else {
    LS_ASSIGN_OR_RETURN(result, EvaluateStep(fs, run_dir, step, threads));
  }
  result.tokens_seen = WholeField(last, "tokens_seen").value_or(0);
  return result;
}

}  // namespace lockstep
