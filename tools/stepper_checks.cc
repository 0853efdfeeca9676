// What may refuse a step once it is computed: losses, gradients, spikes.
#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

std::string Where(const StepReport& report) {
  return absl::StrCat("step ", report.step, ", samples ", report.sample_first,
                      " to ", report.sample_last);
}

absl::Status NonFinite(const std::string& what, const std::string& where) {
  return NumericFailure(
      what, where,
      "the step was not applied and no checkpoint was written; look at these "
      "samples, lower optimizer.lr, or resume from an earlier checkpoint");
}

}  // namespace

absl::Status Stepper::CheckLosses(const Work& work) {
  if (std::isfinite(work.report.loss)) return absl::OkStatus();
  const auto tokens = static_cast<size_t>(config_.data.sequence);
  std::optional<Place> place;
  for (size_t i = 0; i < work.losses_ST.size() && !place; ++i) {
    if (std::isfinite(work.losses_ST[i])) continue;
    place = {static_cast<int64_t>(work.samples[i / tokens]),
             static_cast<int64_t>(i % tokens)};
  }
  LS_ASSIGN_OR_RETURN(const auto first, FirstOverRanks(world(), place));
  const std::string sample =
      first ? absl::StrCat("sample ", first->major, ", position ", first->minor)
            : "";
  return NonFinite(absl::StrCat("the loss is ", work.report.loss),
                   absl::StrCat("step ", work.report.step,
                                ", tensor lm_head.loss, first at ", sample));
}

absl::Status Stepper::CheckGradients(const Work& work) {
  constexpr char kWhat[] = "a gradient is not finite";
  if (model_.grid() != nullptr) {
    const auto tensor = model_.grid()->NonFinite();
    if (tensor) {
      return NonFinite(kWhat,
                       absl::StrCat(Where(work.report), ", tensor ", *tensor));
    }
  }
  const auto mine = model_.optimizer().FindNonFinite();
  std::optional<Place> place;
  if (mine) place = {mine->tensor, mine->element};
  LS_ASSIGN_OR_RETURN(const auto first, FirstOverRanks(world(), place));
  if (!first) return absl::OkStatus();
  const ParameterSpec& spec =
      model_.store().specs()[static_cast<size_t>(first->major)];
  return NonFinite(kWhat, absl::StrCat(Where(work.report), ", tensor ",
                                       spec.name, ", element ", first->minor));
}

// The scale can be blamed as long as there is a smaller one to try.
bool Stepper::MaySkip(const absl::Status& finite) const {
  return absl::IsOutOfRange(finite) && scaler_.dynamic() &&
         !scaler_.at_minimum();
}

// From reduced values, so that every rank decides alike, and before anything
// has moved.
absl::Status Stepper::JudgeSpike(StepReport& report) const {
  if (report.skipped) return absl::OkStatus();
  report.spike = spikes_.Judge(report.loss, report.grad_norm);
  if (!report.spike) return absl::OkStatus();
  if (spikes_.Stops()) return spikes_.Stopped(*report.spike, Where(report));
  report.skipped = spikes_.Skips();
  return absl::OkStatus();
}

}  // namespace lockstep
