// FaultPlan where a step reads its data: which sample, which token.

#include "determinism/fault.h"

namespace lockstep {

uint64_t FaultPlan::SampleFor(uint64_t sample) {
  if (empty()) return sample;
  const std::lock_guard lock(mutex_);
  uint64_t read = sample;
  for (Order& order : orders_) {
    const FaultSpec& spec = order.spec;
    if (spec.kind != FaultKind::kSkipSample || !ActiveNow(order)) continue;
    const bool later = spec.when == FaultSpec::When::kFrom;
    if (sample == *spec.sample || (later && sample > *spec.sample)) {
      ++order.fired;
      ++read;
    }
  }
  return read;
}

std::vector<ChangedToken> FaultPlan::ChangedTokens() const {
  std::vector<ChangedToken> tokens;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < orders_.size(); ++i) {
    const FaultSpec& spec = orders_[i].spec;
    if (spec.kind != FaultKind::kDocument || !ActiveNow(orders_[i])) continue;
    tokens.push_back({i, spec.source, spec.document.value_or(0),
                      spec.element.value_or(0), spec.text});
  }
  return tokens;
}

void FaultPlan::Met(uint64_t order) {
  const std::lock_guard lock(mutex_);
  ++orders_.at(order).fired;
}

}  // namespace lockstep
