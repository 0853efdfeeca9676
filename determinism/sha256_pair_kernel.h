// The rounds of sha256_pair.h, compiled for CPUs that have them. Private to it.

#ifndef DETERMINISM_SHA256_PAIR_KERNEL_H_
#define DETERMINISM_SHA256_PAIR_KERNEL_H_

#include <cstddef>
#include <cstdint>

namespace lockstep::sha {

// Two states of eight words, a to h of FIPS 180-4.
using PairState = uint32_t[2][8];

// Takes `blocks` blocks of 64 bytes at a[0] and a[1] into the states.
void CompressPair(const uint8_t* const (&messages)[2], size_t blocks,
                  PairState& state);

}  // namespace lockstep::sha

#endif  // DETERMINISM_SHA256_PAIR_KERNEL_H_
