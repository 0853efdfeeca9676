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

// Products in FLOP/s, on 1 and, if there are so many, 2 threads: cubes, and the
// projections of hybrid_100m forward, for their input's and their weight's
// gradient. Probe: the register peak of the same moment. The cases "int64
// leaves" have the fp32 loop that is faster as their probe (N5). Peer onednn:
// the same operands in pairs, and "packed" with b laid out beforehand, which
// weight gradients (TN), whose operands are new each time, have no use for.
absl::StatusOr<std::vector<BenchCase>> BenchGemm(const BenchOptions& options);

// One call of every operation of model/kernels, forward and backward, at the
// shapes of hybrid_100m and 2048 tokens, bf16, at the level in use. Products
// (attention, scan) in the FLOP/s of their contract's triangles against the
// register peak of fp32 FMAs; all else in bytes of operands a second, each
// counted once, against a copy beyond any cache, so that what fits a cache may
// be quicker than its probe.
absl::StatusOr<std::vector<BenchCase>> BenchKernels(
    const BenchOptions& options);

// Steps of a recipe on one micro-batch each: tokens, model FLOPs over the
// register peak (the ratio is the MFU), seconds by phase and by kind of
// operation (the ratios are shares of the step), and peak memory over what must
// be kept. "at the recipe's batch" is computed from the parts; "fingerprints"
// is what they add to what follows backward. Peer: a command (peer_step.h).
absl::StatusOr<std::vector<BenchCase>> BenchStep(const BenchOptions& options);

// A recipe's state: the copy that steps wait for, fingerprints included,
// against memcpy of the same tensors by the same threads; a save of that copy,
// hashes included, against the same bytes written past the cache; a load,
// hashed and fingerprinted, against the same file read past the cache; and
// steps while a save is under way against steps without.
absl::StatusOr<std::vector<BenchCase>> BenchCheckpoint(
    const BenchOptions& options);

// `trace diff` of two traces in records of each a second, equal ones and such
// that part; probe: the files read. And seconds of a recipe's step with a trace
// of each level; probe: without, in turns, and the ratio is the median of
// pairs.
absl::StatusOr<std::vector<BenchCase>> BenchTrace(const BenchOptions& options);

// Collectives and messages between ranks that are threads of this process, or
// under a launcher its processes: bytes of each rank's buffer a second, three
// sizes. Probe: all ranks copy as many bytes, in turns with it. On all ranks of
// a launcher but the first there are no cases.
absl::StatusOr<std::vector<BenchCase>> BenchComm(const BenchOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_BENCHES_H_
