// The functions that registry.cc lists, one file each.
#ifndef LOCKSTEP_TOOLS_BENCH_BENCHES_H_
#define LOCKSTEP_TOOLS_BENCH_BENCHES_H_

#include "tools/bench/bench.h"

namespace lockstep {

// Bytes a second of fingerprints (N11), of one tensor and of four of a shape at
// once, from memory and in cache, on one thread. Probe: the same bytes read.
absl::StatusOr<std::vector<BenchCase>> BenchFingerprint(
    const BenchOptions& options);

// Indices a second on one thread, of order.h alone and behind blend.h, a dozen
// epochs in. Probe: draws of Philox (two a round of the network).
absl::StatusOr<std::vector<BenchCase>> BenchOrder(const BenchOptions& options);

// Text to byte tokens in token files, two sizes of text, each against two
// probes: the same text read and hashed (SHA-256 by OpenSSL) by one thread, and
// the bytes of the token file (two a byte of text) written and synced and
// nothing else, which is where a slow device ends it. The last case is peak
// memory, in MiB. data/README.md says what to expect and what was found.
absl::StatusOr<std::vector<BenchCase>> BenchPrepare(
    const BenchOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_BENCHES_H_
