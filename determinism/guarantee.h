// The ladder of promises that a run is held to (recipe key `guarantee`).
//
// A rung includes those before it, so comparing enumerators with < is meant.
// Not a set of switches: a component asks `guarantee >= kBitwise` and nothing
// finer, so that two runs of one rung differ in no hidden option.

#ifndef DETERMINISM_GUARANTEE_H_
#define DETERMINISM_GUARANTEE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace lockstep {

enum class Guarantee : uint8_t {
  kStatistical,      // a rerun lands within the seed spread
  kStateExact,       // whatever is restored is bitwise what was saved
  kBitwise,          // the same layout gives the same bits
  kLayoutInvariant,  // every layout of the grid gives the same bits
};

// "statistical", "state_exact", "bitwise", "layout_invariant".
const char* NameOf(Guarantee guarantee);

// InputError with the nearest valid name for any other text.
absl::StatusOr<Guarantee> GuaranteeFromName(std::string_view name);

}  // namespace lockstep

#endif  // DETERMINISM_GUARANTEE_H_
