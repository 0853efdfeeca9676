// The typed calls, in terms of what a transport has to implement.

#include "parallel/communicator.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

template <typename T>
Collective AllReduce(Reduction reduction, std::span<T> values) {
  return {.kind = CollectiveKind::kAllReduce,
          .reduction = reduction,
          .data = std::as_writable_bytes(values)};
}

std::vector<int64_t> PartBytes(std::span<const int64_t> counts, size_t bytes) {
  std::vector<int64_t> parts;
  for (const int64_t count : counts) {
    LS_CHECK(count >= 0 && count <= INT64_MAX / 8) << count;
    parts.push_back(count * static_cast<int64_t>(bytes));
  }
  return parts;
}

template <typename T>
Collective ReduceScatter(Reduction reduction, std::span<T> values,
                         std::span<const int64_t> counts) {
  return {.kind = CollectiveKind::kReduceScatter,
          .reduction = reduction,
          .data = std::as_writable_bytes(values),
          .part_bytes = PartBytes(counts, sizeof(T))};
}

Collective GatherParts(std::span<std::byte> bytes,
                       std::span<const int64_t> counts) {
  return {.kind = CollectiveKind::kAllGather,
          .data = bytes,
          .part_bytes = PartBytes(counts, 1)};
}

// A call into a transport, and so into a library that may leave the float
// environment changed: the caller's own is put back (N2).
template <class Call>
absl::Status Blocking(Call call) {
  const ScopedFloatEnv float_env;
  return call();
}

}  // namespace

absl::Status Communicator::Barrier() {
  return Blocking([&] { return Start({})->Wait(); });
}

absl::Status Communicator::AllReduceSum(std::span<int64_t> values) {
  return Blocking([&] { return StartAllReduceSum(values)->Wait(); });
}
absl::Status Communicator::AllReduceMax(std::span<int64_t> values) {
  return Blocking(
      [&] { return Start(AllReduce(Reduction::kMaxInt64, values))->Wait(); });
}
absl::Status Communicator::AllReduceMax(std::span<float> values) {
  return Blocking(
      [&] { return Start(AllReduce(Reduction::kMaxFloat, values))->Wait(); });
}
absl::Status Communicator::AllReduceOrderedSum(std::span<float> values) {
  return Blocking([&] { return StartAllReduceOrderedSum(values)->Wait(); });
}
absl::Status Communicator::AllReduceTree(std::span<float> values) {
  return Blocking([&] { return StartAllReduceTree(values)->Wait(); });
}
absl::Status Communicator::AllReduceFastSum(std::span<float> values) {
  return Blocking([&] { return StartAllReduceFastSum(values)->Wait(); });
}

absl::Status Communicator::ReduceScatterSum(std::span<int64_t> values,
                                            std::span<const int64_t> counts) {
  return Blocking(
      [&] { return StartReduceScatterSum(values, counts)->Wait(); });
}
absl::Status Communicator::ReduceScatterOrderedSum(
    std::span<float> values, std::span<const int64_t> counts) {
  return Blocking(
      [&] { return StartReduceScatterOrderedSum(values, counts)->Wait(); });
}
absl::Status Communicator::ReduceScatterTree(std::span<float> values,
                                             std::span<const int64_t> counts) {
  LS_CHECK(std::has_single_bit(static_cast<unsigned>(size()))) << size();
  return Blocking([&] {
    return Start(ReduceScatter(Reduction::kTreeSumFloat, values, counts))
        ->Wait();
  });
}

absl::Status Communicator::AllGather(std::span<const std::byte> in,
                                     std::span<std::byte> out) {
  const auto ranks = static_cast<size_t>(size());
  LS_CHECK_EQ(out.size(), in.size() * ranks);
  const std::vector<int64_t> counts(ranks, static_cast<int64_t>(in.size()));
  if (!in.empty()) {
    std::memcpy(out.data() + static_cast<size_t>(rank()) * in.size(), in.data(),
                in.size());
  }
  return AllGatherV(out, counts);
}
absl::Status Communicator::AllGatherV(std::span<std::byte> bytes,
                                      std::span<const int64_t> counts) {
  return Blocking([&] { return StartAllGatherV(bytes, counts)->Wait(); });
}
absl::Status Communicator::Broadcast(std::span<std::byte> bytes, int root) {
  LS_CHECK(root >= 0 && root < size()) << "root " << root;
  return Blocking([&] {
    return Start({.kind = CollectiveKind::kBroadcast,
                  .root = root,
                  .data = bytes})
        ->Wait();
  });
}

Communicator::Pending Communicator::StartAllReduceSum(
    std::span<int64_t> values) {
  return Start(AllReduce(Reduction::kSumInt64, values));
}
Communicator::Pending Communicator::StartAllReduceOrderedSum(
    std::span<float> values) {
  return Start(AllReduce(Reduction::kOrderedSumFloat, values));
}
Communicator::Pending Communicator::StartAllReduceTree(
    std::span<float> values) {
  LS_CHECK(std::has_single_bit(static_cast<unsigned>(size()))) << size();
  return Start(AllReduce(Reduction::kTreeSumFloat, values));
}
Communicator::Pending Communicator::StartAllReduceFastSum(
    std::span<float> values) {
  return Start(AllReduce(Reduction::kFastSumFloat, values));
}
Communicator::Pending Communicator::StartReduceScatterSum(
    std::span<int64_t> values, std::span<const int64_t> counts) {
  return Start(ReduceScatter(Reduction::kSumInt64, values, counts));
}
Communicator::Pending Communicator::StartReduceScatterOrderedSum(
    std::span<float> values, std::span<const int64_t> counts) {
  return Start(ReduceScatter(Reduction::kOrderedSumFloat, values, counts));
}
Communicator::Pending Communicator::StartAllGatherV(
    std::span<std::byte> bytes, std::span<const int64_t> counts) {
  return Start(GatherParts(bytes, counts));
}

}  // namespace lockstep
