// How the values of several ranks become one: each order written once, for all
// transports.
//
// What it is: elementwise joins over one span a rank, by rank numbers alone.
// What it is not: communication; a transport brings the spans here. Why so: two
// transports agree to the bit because they call one function, not because they
// were both written carefully.

#ifndef PARALLEL_REDUCTION_H_
#define PARALLEL_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

enum class Reduction : uint8_t {
  kNone,
  kSumInt64,  // two's complement: wraps, never traps (N5)
  kMaxInt64,
  // NaN if any is NaN (the quiet one, 0x7fc00000); +0 is above -0.
  kMaxFloat,
  // ((x0 + x1) + x2) + ... by rank, each addition under N2.
  kOrderedSumFloat,
  // ((x0 + x1) + (x2 + x3)) + ..., for a power of two of ranks (N4, N2).
  kTreeSumFloat,
  // Whatever order the transport finds quickest, which is that of arrival: a
  // rerun may differ with three ranks or more. All ranks get the same result.
  // Not for `bitwise` and above.
  kFastSumFloat,
};

// "sum of int64", "tree sum of float", ...
const char* NameOf(Reduction reduction);

// Bytes of an element; 1 for kNone.
size_t ElementBytes(Reduction reduction);

// out[i] = join of sources[r][i] over r, for i in [0, elements). `out` may be
// one of the sources. kFastSumFloat is done in the order given. LS_CHECKs that
// a tree has a power of two of sources. Any float environment may hold.
void ReduceSources(Reduction reduction,
                   std::span<const std::byte* const> sources, std::byte* out,
                   size_t elements);

}  // namespace lockstep

#endif  // PARALLEL_REDUCTION_H_
