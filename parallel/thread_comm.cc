#include "parallel/thread_comm.h"

#include <numeric>
#include <thread>
#include <utility>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "parallel/split.h"
#include "parallel/thread_group.h"

namespace lockstep {
namespace {

using thread_comm_internal::Meeting;
using thread_comm_internal::ThreadGroup;

// A rank's part in a meeting; null when the group was lost before it began.
class ThreadPending : public PendingCollective {
 public:
  ThreadPending(std::shared_ptr<ThreadGroup> group,
                std::shared_ptr<Meeting> meeting, int rank)
      : group_(std::move(group)), meeting_(std::move(meeting)), rank_(rank) {}
  ~ThreadPending() override {
    if (meeting_ != nullptr) group_->GiveUp(*meeting_, rank_);
  }

  absl::Status Wait() override {
    if (meeting_ == nullptr) return group_->Lost();
    const absl::Status status = group_->Finish(*meeting_);
    meeting_ = nullptr;
    return status;
  }

  void MoveInBackground() override {
    if (meeting_ != nullptr) group_->MoveInBackground(meeting_);
  }
  bool Ended() const override {
    return meeting_ == nullptr || group_->Ended(*meeting_);
  }

 private:
  const std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<Meeting> meeting_;
  const int rank_;
};

class ThreadComm : public Communicator {
 public:
  ThreadComm(std::shared_ptr<ThreadGroup> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  ~ThreadComm() override { group_->Leave(rank_); }

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }
  int WorldRank(int rank) const override { return group_->world_rank(rank); }

  Pending Start(const Collective& call) override {
    return std::make_unique<ThreadPending>(
        group_, group_->Join(rank_, sequence_++, call), rank_);
  }

  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    LS_CHECK(tag >= 0 && tag <= kMaxTag) << tag;
    return group_->Send(rank_, peer, tag, bytes);
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override {
    LS_CHECK(tag >= 0 && tag <= kMaxTag) << tag;
    return group_->Recv(peer, rank_, tag, bytes);
  }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override;

 private:
  const std::shared_ptr<ThreadGroup> group_;
  const int rank_;
  uint64_t sequence_ = 0;
};

absl::StatusOr<std::unique_ptr<Communicator>> ThreadComm::Split(int color,
                                                                int key) {
  LS_ASSIGN_OR_RETURN(const SplitGroup split, AgreeOnSplit(*this, color, key));
  return std::make_unique<ThreadComm>(
      group_->Child(sequence_, color, split.world_ranks), split.rank);
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeThreadComms(
    int size, const ThreadCommOptions& options) {
  LS_CHECK_GE(size, 1);
  std::vector<int> world_ranks(static_cast<size_t>(size));
  std::iota(world_ranks.begin(), world_ranks.end(), 0);
  const auto group =
      std::make_shared<ThreadGroup>(std::move(world_ranks), options.timeout_ms);
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
