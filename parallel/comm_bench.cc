#include "parallel/comm_bench.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

using Call = std::function<absl::Status()>;

int64_t NowNs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Buffers of one size, and the calls over them.
class Bench {
 public:
  Bench(Communicator& comm, int64_t bytes, const CommBenchOptions& options)
      : comm_(comm),
        options_(options),
        bytes_(bytes),
        words_(static_cast<size_t>(bytes / 8)),
        floats_(static_cast<size_t>(bytes / 4)),
        copy_(words_.size()) {}

  // Seconds a call in one round: the slowest rank's.
  absl::StatusOr<double> Time(const Call& call) {
    const int64_t calls =
        std::clamp<int64_t>(options_.round_bytes / std::max<int64_t>(bytes_, 1),
                            1, options_.max_calls);
    LS_RETURN_IF_ERROR(comm_.Barrier());
    const int64_t began = NowNs();
    for (int64_t i = 0; i < calls; ++i) LS_RETURN_IF_ERROR(call());
    int64_t took = NowNs() - began;
    LS_RETURN_IF_ERROR(comm_.AllReduceMax(std::span(&took, 1)));
    return static_cast<double>(took) * 1e-9 / static_cast<double>(calls);
  }

  // Rounds of the call and of its probe, in turns; the first round, which
  // warms caches and connections, does not count.
  absl::StatusOr<CommMeasurement> Pair(const std::string& name,
                                       const Call& call) {
    std::vector<double> call_s, copy_s, ratios;
    for (int round = 0; round <= options_.rounds; ++round) {
      LS_ASSIGN_OR_RETURN(const double copy, Time([this] { return Copy(); }));
      LS_ASSIGN_OR_RETURN(const double one, Time(call));
      if (round == 0) continue;
      call_s.push_back(one);
      copy_s.push_back(copy);
      ratios.push_back(copy / one);
    }
    const MedianInterval ratio = MedianOf(ratios);
    const double call_median = MedianOf(call_s).median;
    const auto amount = static_cast<double>(bytes_);
    return CommMeasurement{.name = name,
                           .bytes = bytes_,
                           .call_s = call_median,
                           .rate = amount / call_median,
                           .probe_rate = amount / MedianOf(copy_s).median,
                           .ratio = ratio.median,
                           .ratio_low = ratio.low,
                           .ratio_high = ratio.high};
  }

  std::vector<std::pair<std::string, Call>> Calls() {
    std::vector<std::pair<std::string, Call>> calls = {
        {"all_reduce_ordered_f32",
         [this] { return comm_.AllReduceOrderedSum(floats_); }},
        {"all_reduce_fast_f32",
         [this] { return comm_.AllReduceFastSum(floats_); }},
        {"all_reduce_sum_i64",
         [this] { return comm_.AllReduceSum(std::span(words_)); }},
        {"reduce_scatter_ordered_f32",
         [this] {
           return comm_.ReduceScatterOrderedSum(floats_, Parts(floats_.size()));
         }},
        {"reduce_scatter_sum_i64",
         [this] {
           return comm_.ReduceScatterSum(words_, Parts(words_.size()));
         }},
        {"all_gather",
         [this] { return comm_.AllGatherV(Bytes(), Parts(Bytes().size())); }},
        {"broadcast", [this] { return comm_.Broadcast(Bytes(), 0); }},
        {"ring", [this] { return Ring(); }},
    };
    if (std::has_single_bit(static_cast<unsigned>(comm_.size()))) {
      calls.emplace_back("all_reduce_tree_f32",
                         [this] { return comm_.AllReduceTree(floats_); });
    }
    return calls;
  }

  absl::Status Copy() {
    std::memcpy(copy_.data(), words_.data(), words_.size() * 8);
    // The copy must not be left out for want of a reader.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::swap(copy_, words_);
    return absl::OkStatus();
  }

 private:
  std::span<std::byte> Bytes() {
    return std::as_writable_bytes(std::span(words_));
  }

  std::vector<int64_t> Parts(size_t elements) const {
    const auto ranks = static_cast<int64_t>(comm_.size());
    const auto n = static_cast<int64_t>(elements);
    std::vector<int64_t> parts(static_cast<size_t>(ranks), n / ranks);
    parts[0] += n % ranks;
    return parts;
  }

  absl::Status Ring() {
    const int size = comm_.size();
    LS_RETURN_IF_ERROR(comm_.Send(Bytes(), (comm_.rank() + 1) % size, 0));
    return comm_.Recv(std::as_writable_bytes(std::span(copy_)),
                      (comm_.rank() + size - 1) % size, 0);
  }

  Communicator& comm_;
  const CommBenchOptions& options_;
  const int64_t bytes_;
  std::vector<int64_t> words_;
  std::vector<float> floats_;
  std::vector<int64_t> copy_;
};

bool Asked(const CommBenchOptions& options, const std::string& name) {
  return name.find(options.only) != std::string::npos;
}

absl::StatusOr<CommMeasurement> MeasureBarrier(
    Communicator& comm, const CommBenchOptions& options) {
  Bench bench(comm, 8, options);
  std::vector<double> seconds;
  for (int round = 0; round <= options.rounds; ++round) {
    LS_ASSIGN_OR_RETURN(const double one,
                        bench.Time([&] { return comm.Barrier(); }));
    if (round > 0) seconds.push_back(one);
  }
  return CommMeasurement{.name = "barrier", .call_s = MedianOf(seconds).median};
}

}  // namespace

// P(fewer than k of n rounds below the median) = sum C(n, i) / 2^n for i < k;
// the largest k whose two tails are 5 % or less.
MedianInterval MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  size_t k = 0;
  double term = std::ldexp(1.0, -static_cast<int>(n)), tail = term;
  while (2 * tail <= 0.05) {
    ++k;
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    tail += term;
  }
  const size_t first = k == 0 ? 0 : k - 1;
  return {values[n / 2], values[first], values[n - 1 - first]};
}

absl::StatusOr<std::vector<CommMeasurement>> MeasureCommunicator(
    Communicator& comm, const CommBenchOptions& options) {
  std::vector<CommMeasurement> all;
  if (Asked(options, "barrier")) {
    LS_ASSIGN_OR_RETURN(CommMeasurement one, MeasureBarrier(comm, options));
    all.push_back(std::move(one));
  }
  for (const int64_t bytes : options.bytes) {
    Bench bench(comm, bytes, options);
    for (const auto& [name, call] : bench.Calls()) {
      if (!Asked(options, name)) continue;
      LS_ASSIGN_OR_RETURN(CommMeasurement one, bench.Pair(name, call));
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace lockstep
