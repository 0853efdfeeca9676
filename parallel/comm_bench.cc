#include "parallel/comm_bench.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
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

  // Seconds a call: the slowest rank's, the median over rounds.
  absl::StatusOr<double> Time(const Call& call) {
    const int64_t calls =
        std::clamp<int64_t>(options_.round_bytes / std::max<int64_t>(bytes_, 1),
                            1, options_.max_calls);
    std::vector<double> seconds;
    for (int round = 0; round <= options_.rounds; ++round) {
      LS_RETURN_IF_ERROR(comm_.Barrier());
      const int64_t began = NowNs();
      for (int64_t i = 0; i < calls; ++i) LS_RETURN_IF_ERROR(call());
      int64_t took = NowNs() - began;
      LS_RETURN_IF_ERROR(comm_.AllReduceMax(std::span(&took, 1)));
      if (round == 0) continue;  // warms caches and connections
      seconds.push_back(static_cast<double>(took) * 1e-9 /
                        static_cast<double>(calls));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
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

}  // namespace

absl::StatusOr<std::vector<CommMeasurement>> MeasureCommunicator(
    Communicator& comm, const CommBenchOptions& options) {
  std::vector<CommMeasurement> all;
  {
    Bench bench(comm, 8, options);
    LS_ASSIGN_OR_RETURN(const double call_s,
                        bench.Time([&] { return comm.Barrier(); }));
    all.push_back({.name = "barrier", .call_s = call_s});
  }
  for (const int64_t bytes : options.bytes) {
    Bench bench(comm, bytes, options);
    for (const auto& [name, call] : bench.Calls()) {
      LS_ASSIGN_OR_RETURN(const double copy_s,
                          bench.Time([&] { return bench.Copy(); }));
      LS_ASSIGN_OR_RETURN(const double call_s, bench.Time(call));
      const auto amount = static_cast<double>(bytes);
      all.push_back({.name = name,
                     .bytes = bytes,
                     .call_s = call_s,
                     .rate = amount / call_s,
                     .probe_rate = amount / copy_s,
                     .ratio = copy_s / call_s});
    }
  }
  return all;
}

}  // namespace lockstep
