#include "determinism/operation.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

constexpr std::array<const char*, kPhaseCount> kNames = {
    "forward", "recompute", "backward",   "reduction",
    "clip",    "optimizer", "conversion", "save",
    "load",    "evaluate",  "message",    "collective"};

}  // namespace

const char* NameOf(Phase phase) { return kNames[static_cast<size_t>(phase)]; }

std::optional<Phase> PhaseFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

bool OperationEvent::HoldsSample(uint64_t sample) const {
  return std::binary_search(sample_ids.begin(), sample_ids.end(), sample);
}

bool OperationEvent::SamplesAreConsecutive() const {
  return sample_ids.empty() ||
         sample_ids.back() - sample_ids.front() == sample_ids.size() - 1;
}

}  // namespace lockstep
