// What collectives cost on this machine: time a call and a rate beside memcpy.
//
// What it is: measurements that all ranks make together and all get alike (the
// slowest rank's time, medians over rounds), each with a memcpy of the same
// bytes by all ranks in the same minute. What it is not: a verdict; figures of
// a shared machine mean something as ratios only.

#ifndef PARALLEL_COMM_BENCH_H_
#define PARALLEL_COMM_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "parallel/communicator.h"

namespace lockstep {

struct CommBenchOptions {
  std::vector<int64_t> bytes = {8, 64 * 1024, 4 * 1024 * 1024};
  int rounds = 7;                          // the median counts
  int64_t round_bytes = 32 * 1024 * 1024;  // calls are repeated up to this
  int64_t max_calls = 200;                 // a round
};

struct CommMeasurement {
  std::string name = {};
  int64_t bytes = 0;      // of each rank's buffer
  double call_s = 0;      // seconds a call
  double rate = 0;        // bytes / call_s
  double probe_rate = 0;  // of memcpy
  double ratio = 0;       // rate / probe_rate
};

// A collective call. Names: barrier, all_reduce_ordered_f32,
// all_reduce_tree_f32 (a power of two of ranks), all_reduce_fast_f32,
// all_reduce_sum_i64, reduce_scatter_ordered_f32, reduce_scatter_sum_i64,
// all_gather, broadcast, ring (a message to the next rank, one from the
// previous).
absl::StatusOr<std::vector<CommMeasurement>> MeasureCommunicator(
    Communicator& comm, const CommBenchOptions& options);

}  // namespace lockstep

#endif  // PARALLEL_COMM_BENCH_H_
