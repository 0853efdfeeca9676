#include "determinism/philox_kernel.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

using philox_internal::AngleOf;
using philox_internal::RadiusOf;
using philox_internal::Rounds;

void Blocks(const PhiloxCounter& first, uint64_t seed, int64_t count,
            uint32_t* out) {
  const auto k0 = static_cast<uint32_t>(seed);
  const auto k1 = static_cast<uint32_t>(seed >> 32);
  const auto c2 = static_cast<uint32_t>(first.high);
  const auto c3 = static_cast<uint32_t>(first.high >> 32);
  for (int64_t q = 0; q < count; ++q) {
    const uint64_t low = first.low + static_cast<uint64_t>(q);
    uint32_t c[4] = {static_cast<uint32_t>(low),
                     static_cast<uint32_t>(low >> 32), c2, c3};
    Rounds(c, k0, k1);
    out[4 * q] = c[0];
    out[4 * q + 1] = c[1];
    out[4 * q + 2] = c[2];
    out[4 * q + 3] = c[3];
  }
}

// A pair of words gives a pair of normals: cosine, then sine. In two loops,
// since only the first can be vectorised.
void Normals(const uint32_t* blocks, int64_t count, float* out) {
  for (int64_t pair = 0; pair < 2 * count; ++pair) {
    out[2 * pair] = RadiusOf(blocks[2 * pair]);
  }
  for (int64_t pair = 0; pair < 2 * count; ++pair) {
    const float radius = out[2 * pair];
    const float angle = AngleOf(blocks[2 * pair + 1]);
    out[2 * pair] = radius * math::Cos(angle);
    out[2 * pair + 1] = radius * math::Sin(angle);
  }
}

}  // namespace

PhiloxKernels Philox() { return {.blocks = Blocks, .normals = Normals}; }

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
