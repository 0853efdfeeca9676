// What a difference of two runs says, in words.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/diff/run_diff.h"

namespace lockstep {

std::string ReadingOfRuns(const RunDiff& diff, bool whole) {
  const MetricsParting& m = diff.metrics;
  if (m.compared == 0) return "the runs have no step in common";
  if (m.step == 0 && m.missing != 0) {
    return absl::StrCat("only one of the runs has step ", m.missing,
                        "; all steps that both have are equal");
  }
  if (m.step == 0 && diff.first_different.step != 0) {
    return absl::StrCat(
        "the lines of all common steps are equal and the checkpoints of step ",
        diff.first_different.step,
        " are not: what differs shows in no field of metrics.jsonl, as without "
        "metrics.fingerprints, or was changed after it was saved");
  }
  if (m.step == 0 && m.last_a != m.last_b) {
    return absl::StrCat("equal as far as both go, to step ",
                        std::min(m.last_a, m.last_b));
  }
  if (m.step == 0) {
    return whole ? "all steps are equal"
                 : "all common steps are equal; one run lacks its first steps";
  }
  const int64_t common = std::max(m.first_a, m.first_b);
  if (m.step == common && diff.first_different.step == common - 1 &&
      common > 1) {
    return absl::StrCat(
        "the states of step ", common - 1,
        ", from which the first common step goes on, differ: what one of them "
        "grew from is not what the other was");
  }
  if (m.step == common && !diff.start_a.empty() && !diff.start_b.empty() &&
      diff.start_a != diff.start_b) {
    return "the states before the first step differ: weights were initialised "
           "otherwise (seed, model, grid), or loaded otherwise";
  }
  if (diff.first_different.step != 0 && diff.first_different.step < m.step) {
    return absl::StrCat("the states saved after step ",
                        diff.first_different.step,
                        ", before the first step that differs, are not equal: "
                        "what differs was there already, or was loaded (a "
                        "fork's parent, or a checkpoint that was changed)");
  }
  return ReadingOf(m.fields);
}

std::string ReadingOf(const std::vector<std::string>& fields) {
  const auto has = [&](const char* name) {
    return std::count(fields.begin(), fields.end(), name) > 0;
  };
  if (has("fingerprint.data") || has("sample_first") || has("sample_last") ||
      has("valid_tokens")) {
    return "the step read other data: order, corpus, tokenizer, skip list or "
           "batch";
  }
  if (has("fingerprint.loss") || has("loss") || has("lm_loss")) {
    return "equal data and another loss: forward, on weights that were equal "
           "after the step before";
  }
  if (has("fingerprint.grads") || has("grad_norm")) {
    return "an equal loss and other gradients: backward, recomputation or the "
           "reduction over ranks";
  }
  if (has("lr") || has("loss_scale") || has("grad_norm_clipped")) {
    return "equal gradients and another rate, scale or clip factor: the "
           "schedule, or what the optimizer is told";
  }
  if (has("fingerprint.params") || has("fingerprint.optimizer")) {
    return "equal gradients and other weights or moments: the update, or the "
           "conversion of weights";
  }
  if (has("fingerprint.rng")) return "the random streams stand elsewhere";
  if (has("fingerprint.state")) {
    return "weights, moments and streams are equal and the state is not: a "
           "counter, the data cursor, the skip list, the loss scale or the "
           "spike statistics";
  }
  return "only fields that count or describe differ";
}

}  // namespace lockstep
