#include "determinism/guarantee.h"

#include <array>
#include <string>

#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 4> kNames = {
    "statistical", "state_exact", "bitwise", "layout_invariant"};

}  // namespace

const char* NameOf(Guarantee guarantee) {
  return kNames[static_cast<size_t>(guarantee)].data();
}

absl::StatusOr<Guarantee> GuaranteeFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Guarantee>(i);
  }
  return InputError("unknown guarantee '" + std::string(name) + "'",
                    "guarantee",
                    "write '" + std::string(NearestName(name, kNames)) +
                        "', the nearest of " + JoinNames(kNames));
}

}  // namespace lockstep
