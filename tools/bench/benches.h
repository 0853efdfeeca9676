// The functions that registry.cc lists, one file each.
#ifndef LOCKSTEP_TOOLS_BENCH_BENCHES_H_
#define LOCKSTEP_TOOLS_BENCH_BENCHES_H_

#include "tools/bench/bench.h"

namespace lockstep {

// Indices a second on one thread, of order.h alone and behind blend.h, a dozen
// epochs in. Probe: draws of Philox (two a round of the network).
absl::StatusOr<std::vector<BenchCase>> BenchOrder(const BenchOptions& options);

// Text to byte tokens in token files, two sizes of text. Probe: the same text
// read and hashed by one thread. The last case is peak memory, in MiB.
absl::StatusOr<std::vector<BenchCase>> BenchPrepare(
    const BenchOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_BENCHES_H_
