#include "tools/trace_diff/loss_scales.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/operation.h"
#include "tools/trace_diff/phase_place.h"

namespace lockstep {
namespace {

constexpr char kLossGradient[] = "dlogits";

double Ratio(const TracedTensor& a, const TracedTensor& b) {
  if (!a.values || !b.values || b.values->rms <= 0) return 0;
  return a.values->rms / b.values->rms;
}

// How far off 1, up or down.
double Factor(double ratio) { return std::max(ratio, 1 / ratio); }

double NearestPowerOfTwo(double ratio) {
  constexpr double kHalfWay = 1.4142135623730951;
  double power = 1;
  while (ratio > power * kHalfWay) power *= 2;
  while (ratio < power / kHalfWay) power /= 2;
  return power;
}

bool IsScaledPhase(const std::string& phase) {
  return phase == NameOf(Phase::kForward) ||
         phase == NameOf(Phase::kBackward) || IsExchange(phase);
}

}  // namespace

LossScales LossScales::Of(const TracePair& pair) {
  LossScales scales;
  for (const auto& [rank, list] : pair.a) {
    const auto other = pair.b.find(rank);
    for (size_t i = 0; other != pair.b.end() && i < list.size(); ++i) {
      const TracedOperation operation = list.At(i);
      if (operation.outputs.empty() ||
          operation.outputs.back().name != kLossGradient) {
        continue;
      }
      const auto match = other->second.Find(list, i);
      if (match) scales.Take(operation, other->second.At(*match));
    }
  }
  return scales;
}

// Only fp16 scales its loss, and by powers of two.
void LossScales::Take(const TracedOperation& a, const TracedOperation& b) {
  if (a.outputs.size() != b.outputs.size()) return;
  const TracedTensor &one = a.outputs.back(), &other = b.outputs.back();
  const double ratio = Ratio(one, other);
  if ((one.dtype != "F16" && other.dtype != "F16") || !(ratio > 0) ||
      !std::isfinite(ratio)) {
    return;
  }
  constexpr double kSure = 1.2;
  const double power = NearestPowerOfTwo(ratio);
  if (power == 1 || Factor(ratio / power) > kSure) return;
  scales_.try_emplace({a.identity.step, a.identity.attempt}, power);
}

std::string LossScales::Text() const {
  std::set<double> all;
  for (const auto& [step, scale] : scales_) all.insert(scale);
  return absl::StrJoin(all, " or ", [](std::string* text, double scale) {
    absl::StrAppend(text, scale);
  });
}

double LossScales::Between(const OperationIdentity& identity,
                           const TracedTensor& a, const TracedTensor& b) const {
  if (!IsScaledPhase(identity.phase)) return 1;
  const auto scale = scales_.find({identity.step, identity.attempt});
  const double ratio = Ratio(a, b);
  if (scale == scales_.end() || !(ratio > 0)) return 1;
  return Factor(ratio / scale->second) < Factor(ratio) ? scale->second : 1;
}

}  // namespace lockstep
