// FaultPlan where a step asks it before it does something: which sample, which
// token, which stream, whether to exchange; and what it tells of its orders.

#include <algorithm>

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

bool FaultPlan::Drops(std::string_view collective) {
  if (empty()) return false;
  const std::lock_guard lock(mutex_);
  for (Order& order : orders_) {
    if (order.spec.kind == FaultKind::kDropCollective && ActiveNow(order) &&
        order.spec.at == collective) {
      ++order.fired;
      return true;
    }
  }
  return false;
}

bool FaultPlan::SlipsStream(int64_t micro_batch,
                            std::span<const uint64_t> samples) {
  if (empty() || samples.empty()) return false;
  const std::lock_guard lock(mutex_);
  for (Order& order : orders_) {
    const FaultSpec& spec = order.spec;
    if (spec.kind != FaultKind::kRngSlip || !ActiveNow(order)) continue;
    if (spec.micro.has_value() && *spec.micro != micro_batch) continue;
    if (spec.sample.has_value() &&
        !std::binary_search(samples.begin(), samples.end(), *spec.sample)) {
      continue;
    }
    ++order.fired;
    return true;
  }
  return false;
}

void FaultPlan::Met(uint64_t order) {
  const std::lock_guard lock(mutex_);
  ++orders_.at(order).fired;
}

OperationObserver* FaultPlan::late() {
  const bool any = std::any_of(orders_.begin(), orders_.end(),
                               [](const Order& o) { return o.spec.late; });
  return any ? &late_ : nullptr;
}

std::vector<std::string> FaultPlan::Unfired() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const Order& order : orders_) {
    if (order.fired == 0) texts.push_back(order.spec.text);
  }
  return texts;
}

}  // namespace lockstep
