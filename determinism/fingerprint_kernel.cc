#include "determinism/fingerprint_kernel.h"

#include <cstring>

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Plain, for the compiler to vectorise: 32 by 32 to 64 bit products.
void FingerprintWords(const unsigned char* data, int64_t count, uint32_t first,
                      uint32_t high_mixed, uint64_t* lanes) {
  uint64_t lane0 = 0;
  uint64_t lane1 = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word;
    std::memcpy(&word, data + 4 * i, sizeof(word));
    const uint32_t low = first + static_cast<uint32_t>(i);
    lane0 += uint64_t{word} * fingerprint_internal::KeyOf(low, high_mixed, 0);
    lane1 += uint64_t{word} * fingerprint_internal::KeyOf(low, high_mixed, 1);
  }
  lanes[0] += lane0;
  lanes[1] += lane1;
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
