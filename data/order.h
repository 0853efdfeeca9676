// Which sample comes when: a pure function of (seed, global sample index).
//
// Sample g of a run is in epoch g / n (n samples a source), and each epoch is
// a permutation of 0 .. n-1 computed, not stored: a Feistel network keyed by
// (seed, source, epoch) over the smallest 2^(2w) >= n, walked until it lands
// below n (a bijection restricted to a subset stays one; Black and Rogaway,
// "Ciphers with Arbitrary Finite Domains", 2002, method 2). So there are no
// index files, start-up costs nothing at 10^12 tokens, and neither a longer
// run nor another batch size reorders what has been seen. The data cursor is g
// and nothing else.
//
// Round function: word 0 of Philox (N9) at stream kOrder, layer = source,
// item = epoch, element = 4 * (round * 2^32 + right half).

#ifndef DATA_ORDER_H_
#define DATA_ORDER_H_

#include <cstdint>

namespace lockstep {

// A walk takes at most 4 trips through the network on average.
inline constexpr int kOrderRounds = 8;

// The sample of `source` that is the global_index-th to be seen of it.
// sample_count in 1 .. 2^62, source below 2^16, epoch below 2^56.
uint64_t SampleAt(uint64_t seed, uint64_t source, uint64_t sample_count,
                  uint64_t global_index);

}  // namespace lockstep

#endif  // DATA_ORDER_H_
