// What collectives cost on this machine: time a call and a rate beside memcpy.
//
// What it is: measurements that all ranks make together and all get alike (the
// slowest rank's time, medians over rounds), each in turns with a memcpy of the
// same bytes by all ranks: a round has one of both, and its ratio. What it is
// not: a verdict; figures of a shared machine mean something as ratios only.

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
  int rounds = 15;                         // the median counts
  int64_t round_bytes = 32 * 1024 * 1024;  // calls are repeated up to this
  int64_t max_calls = 200;                 // a round
  std::string only = {};  // calls whose name has this in it; empty: all
};

struct CommMeasurement {
  std::string name = {};
  int64_t bytes = 0;      // of each rank's buffer
  double call_s = 0;      // seconds a call
  double rate = 0;        // bytes / call_s
  double probe_rate = 0;  // of memcpy
  double ratio = 0;       // rate / probe_rate, round by round
  // Of the median ratio, from the order of the rounds (at least 95 % where
  // there are 6 or more; with fewer, all that was seen).
  double ratio_low = 0, ratio_high = 0;
};

// The median of the values, and the interval from the k-th least to the k-th
// greatest that holds the median of what they are drawn from with 95 %.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval MedianOf(std::vector<double> values);

// A collective call. Names: barrier, all_reduce_ordered_f32,
// all_reduce_tree_f32 (a power of two of ranks), all_reduce_fast_f32,
// all_reduce_sum_i64, reduce_scatter_ordered_f32, reduce_scatter_sum_i64,
// all_gather, broadcast, ring (a message to the next rank, one from the
// previous).
absl::StatusOr<std::vector<CommMeasurement>> MeasureCommunicator(
    Communicator& comm, const CommBenchOptions& options);

}  // namespace lockstep

#endif  // PARALLEL_COMM_BENCH_H_
