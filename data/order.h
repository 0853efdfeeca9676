// Which sample comes when: a pure function of (seed, global sample index).
//
// Sample g of a run is in epoch g / n (n samples a source), and each epoch is
// a permutation of 0 .. n-1 computed, not stored: a Feistel network keyed by
// (seed, source, epoch) over the smallest power of two >= n and 64, walked
// until it lands below n (a bijection restricted to a subset stays one; Black
// and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002, method 2). So
// there are no index files, start-up costs nothing at 10^12 tokens, and neither
// a longer run nor another batch size reorders what has been seen. The data
// cursor is g and nothing else.
//
// The bits are cut into a left part and a right one, equal or one longer on the
// left; even rounds xor the left part with a function of the right one, odd
// rounds the other way. The function is word 0 of Philox (N9) at stream kOrder,
// layer = source, item = epoch, element = 4 * (round * 2^32 + part).

#ifndef DATA_ORDER_H_
#define DATA_ORDER_H_

#include <cstdint>

namespace lockstep {

// Even. A walk takes at most 2 trips through the network on average (n >= 64).
inline constexpr int kOrderRounds = 8;

// The sample of `source` that is the global_index-th to be seen of it.
// sample_count in 1 .. 2^62, source below 2^16, epoch below 2^56.
uint64_t SampleAt(uint64_t seed, uint64_t source, uint64_t sample_count,
                  uint64_t global_index);

}  // namespace lockstep

#endif  // DATA_ORDER_H_
