#include "tools/bisect/settings_trial.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

bool OfTheRate(std::string_view key) {
  return key == "optimizer.lr" || key.starts_with("schedule.");
}

// What a step reads, and what it does not do with it.
bool OfTheSamples(std::string_view key) {
  return key == "tokenizer" ||
         (key.starts_with("data.") && key != "data.reset_at_documents");
}

// The state that a run saves is the same whatever they are.
bool CanBeTried(std::string_view key) {
  constexpr std::string_view kStarts[] = {
      "optimizer.",
      "spike.",
      "batch.",
      "grid.",
      "precision.initial_scale",
      "parallel.sequence",
      "elastic.",
      "model.chunk",
      "model.key_block",
      "model.norm_eps",
      "model.init_std",
      "model.hidden_dropout",
  };
  return std::any_of(
      std::begin(kStarts), std::end(kStarts),
      [&](std::string_view start) { return key.starts_with(start); });
}

bool SeenAtWork(const Evidence& evidence, std::string_view key) {
  if (OfTheRate(key)) return evidence.Differs("lr");
  return key.starts_with("batch.") && evidence.ReadOtherSamples();
}

}  // namespace

std::vector<std::string> AcquitByFields(Evidence& evidence) {
  std::vector<std::string> acquitted;
  for (BisectDifference& d : evidence.differences) {
    const bool idle =
        (OfTheRate(d.key) && !evidence.Differs("lr")) ||
        (OfTheSamples(d.key) && evidence.fingerprinted &&
         !evidence.ReadOtherSamples() && !evidence.Differs("stop"));
    if (!d.explains || !idle) continue;
    d.explains = false;
    acquitted.push_back(d.key);
  }
  return acquitted;
}

std::optional<std::vector<std::string>> TrialOf(const Evidence& evidence) {
  std::vector<std::string> sets;
  for (const BisectDifference& d : evidence.differences) {
    if (!d.explains) continue;
    if (!CanBeTried(d.key) || SeenAtWork(evidence, d.key) ||
        d.a == "(absent)") {
      return std::nullopt;
    }
    sets.push_back(absl::StrCat(d.key, "=", d.a));
  }
  return sets;
}

}  // namespace lockstep
