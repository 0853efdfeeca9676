#include "parallel/thread_comm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "parallel/thread_group.h"

namespace lockstep {
namespace {

using thread_comm_internal::Slot;
using thread_comm_internal::ThreadGroup;

int64_t Wrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

// Binary32 as an integer of the same order, -0 below +0, whatever the float
// environment thinks of subnormals. A NaN of either sign stands above all.
uint32_t OrderOf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xffffffffu;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

float FloatOf(uint32_t order) {
  if (order == 0xffffffffu) return std::bit_cast<float>(0x7fc00000u);
  return std::bit_cast<float>((order & 0x80000000u) != 0 ? order & 0x7fffffffu
                                                         : ~order);
}

class ThreadComm : public Communicator {
 public:
  ThreadComm(std::shared_ptr<ThreadGroup> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  ~ThreadComm() override { group_->Leave(rank_); }

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }

  absl::Status Barrier() override {
    return Collective({.operation = "barrier"}, [] {});
  }

  absl::Status AllReduceSum(std::span<int64_t> values) override {
    return Reduce(
        "all_reduce_sum of int64", values, [](int64_t first) { return first; },
        Wrapped, [](int64_t sum) { return sum; });
  }
  absl::Status AllReduceMax(std::span<int64_t> values) override {
    return Reduce(
        "all_reduce_max of int64", values, [](int64_t first) { return first; },
        [](int64_t a, int64_t b) { return std::max(a, b); },
        [](int64_t maximum) { return maximum; });
  }
  absl::Status AllReduceMax(std::span<float> values) override {
    return Reduce(
        "all_reduce_max of float", values, OrderOf,
        [](uint32_t a, float b) { return std::max(a, OrderOf(b)); }, FloatOf);
  }
  absl::Status AllReduceOrderedSum(std::span<float> values) override {
    const ScopedFloatEnv strict;
    return Reduce(
        "all_reduce_ordered_sum", values, [](float first) { return first; },
        [](float sum, float next) { return sum + next; },
        [](float sum) { return sum; });
  }

  absl::Status AllGather(std::span<const std::byte> in,
                         std::span<std::byte> out) override {
    LS_CHECK_EQ(out.size(), in.size() * static_cast<size_t>(size()));
    const Slot mine = {
        .operation = "all_gather", .count = in.size(), .in = in.data()};
    return Collective(mine, [&] {
      for (int rank = 0; rank < size(); ++rank) {
        Copy(out.data() + static_cast<size_t>(rank) * in.size(),
             group_->slot(rank).in, in.size());
      }
    });
  }

  absl::Status Broadcast(std::span<std::byte> bytes, int root) override {
    LS_CHECK(root >= 0 && root < size()) << "root " << root;
    const Slot mine = {.operation = "broadcast",
                       .count = bytes.size(),
                       .root = root,
                       .data = bytes.data()};
    return Collective(mine, [&] {
      if (rank_ == root) return;
      Copy(bytes.data(), group_->slot(root).data, bytes.size());
    });
  }

  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    return group_->Send(rank_, peer, tag, bytes);
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override {
    return group_->Recv(peer, rank_, tag, bytes);
  }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override;
  absl::Status Agree(const absl::Status& mine) override;

 private:
  static void Copy(void* to, const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  // Runs `work` on every rank, or on none.
  template <typename Work>
  absl::Status Collective(Slot mine, Work work) {
    group_->slot(rank_) = std::move(mine);
    LS_RETURN_IF_ERROR(group_->Meet(rank_));
    const absl::Status same = group_->CheckSame();
    if (same.ok()) work();
    group_->Part();
    return same;
  }

  // Each rank reduces its share of the elements over all ranks, in rank order,
  // and writes the result to all.
  template <typename T, typename First, typename Join, typename Last>
  absl::Status Reduce(const char* operation, std::span<T> values, First first,
                      Join join, Last last) {
    const Slot mine = {
        .operation = operation, .count = values.size(), .data = values.data()};
    return Collective(mine, [&] {
      std::vector<T*> all;
      for (int rank = 0; rank < size(); ++rank) {
        all.push_back(static_cast<T*>(group_->slot(rank).data));
      }
      const size_t ranks = all.size(), me = static_cast<size_t>(rank_);
      const size_t end = Share(values.size(), me + 1, ranks);
      for (size_t i = Share(values.size(), me, ranks); i < end; ++i) {
        auto joined = first(all[0][i]);
        for (size_t r = 1; r < ranks; ++r) joined = join(joined, all[r][i]);
        for (size_t r = 0; r < ranks; ++r) all[r][i] = last(joined);
      }
    });
  }

  // Where the share of `part` begins; n times parts could overflow.
  static size_t Share(size_t n, size_t part, size_t parts) {
    return n / parts * part + std::min(part, n % parts);
  }

  // The ranks of `color`, by (key, rank).
  std::vector<int> Members(int color) const {
    std::vector<int> members;
    for (int rank = 0; rank < size(); ++rank) {
      if (group_->slot(rank).color == color) members.push_back(rank);
    }
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
      return group_->slot(a).key < group_->slot(b).key;
    });
    return members;
  }

  const std::shared_ptr<ThreadGroup> group_;
  const int rank_;
};

absl::StatusOr<std::unique_ptr<Communicator>> ThreadComm::Split(int color,
                                                                int key) {
  LS_CHECK_GE(color, 0);
  std::unique_ptr<Communicator> child;
  const Slot mine = {.operation = "split", .color = color, .key = key};
  LS_RETURN_IF_ERROR(Collective(mine, [&] {
    const std::vector<int> members = Members(color);
    Slot& leader = group_->slot(members[0]);
    if (rank_ == members[0]) {
      leader.child = std::make_shared<ThreadGroup>(
          static_cast<int>(members.size()), group_->timeout_ms());
    }
    group_->Part();  // the leaders have made their groups
    const auto me = std::find(members.begin(), members.end(), rank_);
    child = std::make_unique<ThreadComm>(
        leader.child, static_cast<int>(me - members.begin()));
  }));
  group_->slot(rank_).child = nullptr;
  return child;
}

absl::Status ThreadComm::Agree(const absl::Status& mine) {
  absl::Status agreed;
  const Slot slot = {.operation = "agree", .status = mine};
  LS_RETURN_IF_ERROR(Collective(slot, [&] {
    for (int rank = 0; rank < size() && agreed.ok(); ++rank) {
      const absl::Status& status = group_->slot(rank).status;
      if (status.ok()) continue;
      agreed =
          absl::Status(status.code(), "rank " + std::to_string(rank) + ": " +
                                          std::string(status.message()));
    }
  }));
  return agreed;
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeThreadComms(
    int size, const ThreadCommOptions& options) {
  LS_CHECK_GE(size, 1);
  const auto group = std::make_shared<ThreadGroup>(size, options.timeout_ms);
  std::vector<std::unique_ptr<Communicator>> comms;
  for (int rank = 0; rank < size; ++rank) {
    comms.push_back(std::make_unique<ThreadComm>(group, rank));
  }
  return comms;
}

absl::Status RunThreadRanks(
    int size, const std::function<absl::Status(Communicator&)>& body,
    const ThreadCommOptions& options) {
  std::vector<std::unique_ptr<Communicator>> comms =
      MakeThreadComms(size, options);
  std::vector<absl::Status> statuses(comms.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < comms.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const ScopedFloatEnv strict;
      statuses[rank] = body(*comms[rank]);
      comms[rank].reset();  // the others need not wait for the join
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    if (!status.ok() && !absl::IsUnavailable(status)) return status;
  }
  for (const absl::Status& status : statuses) LS_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace lockstep
