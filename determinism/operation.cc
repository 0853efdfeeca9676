#include "determinism/operation.h"

#include <array>

namespace lockstep {
namespace {

constexpr std::array<const char*, kPhaseCount> kNames = {
    "forward",   "recompute",  "backward", "reduction", "clip",
    "optimizer", "conversion", "save",     "load",      "evaluate"};

}  // namespace

const char* NameOf(Phase phase) { return kNames[static_cast<size_t>(phase)]; }

std::optional<Phase> PhaseFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

}  // namespace lockstep
