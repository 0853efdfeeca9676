// The communicator itself; what it is made of is in the other mpi_ files.

#include "parallel/mpi_comm.h"

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"
#include "parallel/mpi_collective.h"
#include "parallel/mpi_group.h"
#include "parallel/mpi_message.h"
#include "parallel/mpi_world.h"
#include "parallel/split.h"

namespace lockstep {
namespace {

using mpi_internal::CheckMpi;
using mpi_internal::MakeMpiComm;
using mpi_internal::MpiCollective;
using mpi_internal::MpiGroup;
using mpi_internal::MpiReceive;
using mpi_internal::MpiSend;
using mpi_internal::MpiWorld;
using mpi_internal::Place;

class MpiPending : public PendingCollective {
 public:
  MpiPending(std::shared_ptr<MpiWorld> world, std::shared_ptr<MpiGroup> group,
             const Collective& call)
      : world_(std::move(world)), group_(std::move(group)) {
    const auto lock = world_->Locked();
    if (!world_->lost().ok()) return;
    operation_ = std::make_shared<MpiCollective>(world_.get(), group_, call);
    world_->Add(operation_);
    world_->Progress();
  }

  // What others do with this rank's memory has to end first; if it does not,
  // the job is over and MPI is not called again.
  ~MpiPending() override {
    if (Ended()) return;
    world_->Leave(group_->id, group_->world_ranks);
    if (!world_->Abandon(operation_)) Wait().IgnoreError();
  }

  absl::Status Wait() override {
    if (operation_ == nullptr) return world_->lost();
    LS_RETURN_IF_ERROR(world_->Await(*operation_, group_->id));
    return operation_->status();
  }

  void MoveInBackground() override {
    if (operation_ != nullptr) world_->MoveInBackground(operation_);
  }
  bool Ended() const override {
    const auto lock = world_->Locked();
    return operation_ == nullptr || operation_->ended();
  }

 private:
  const std::shared_ptr<MpiWorld> world_;
  const std::shared_ptr<MpiGroup> group_;
  std::shared_ptr<MpiCollective> operation_;
};

class MpiComm : public Communicator {
 public:
  MpiComm(std::shared_ptr<MpiWorld> world, std::shared_ptr<MpiGroup> group)
      : world_(std::move(world)), group_(std::move(group)) {}
  // MPI_Comm_free is a collective call, and a rank that leaves alone would wait
  // in it; MPI_Finalize frees all.
  ~MpiComm() override { world_->Leave(group_->id, group_->world_ranks); }

  int rank() const override { return group_->rank; }
  int size() const override { return group_->size(); }
  int WorldRank(int rank) const override {
    return group_->world_ranks[static_cast<size_t>(rank)];
  }

  std::vector<int> AwaitedRanks() const override {
    return world_->AwaitedRanks();
  }

  Pending Start(const Collective& call) override {
    return std::make_unique<MpiPending>(world_, group_, call);
  }

  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    LS_CHECK(tag >= 0 && tag <= kMaxTag) << tag;
    const auto lock = world_->Locked();
    if (!world_->lost().ok()) return world_->lost();
    world_->Add(
        std::make_shared<MpiSend>(world_.get(), *group_, bytes, peer, tag));
    world_->Progress();
    return absl::OkStatus();
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override;

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override;

 private:
  const std::shared_ptr<MpiWorld> world_;
  const std::shared_ptr<MpiGroup> group_;
};

absl::Status MpiComm::Recv(std::span<std::byte> bytes, int peer, int tag) {
  LS_CHECK(tag >= 0 && tag <= kMaxTag) << tag;
  std::shared_ptr<MpiReceive> receive;
  {
    const auto lock = world_->Locked();
    if (!world_->lost().ok()) return world_->lost();
    receive =
        std::make_shared<MpiReceive>(world_.get(), group_, bytes, peer, tag);
    world_->Add(receive);
  }
  LS_RETURN_IF_ERROR(world_->Await(*receive, group_->id));
  if (receive->length() == bytes.size()) return absl::OkStatus();
  return absl::InternalError(
      "a message has " + std::to_string(receive->length()) + " bytes, " +
      std::to_string(bytes.size()) + " were expected\n  where: rank " +
      std::to_string(WorldRank(peer)) + " to " +
      std::to_string(WorldRank(rank())) + ", tag " + std::to_string(tag) +
      "\n  do: report this, with the recipe");
}

// All ranks are known to be here, so MPI's own collectives end.
std::shared_ptr<MpiGroup> NewGroup(MPI_Comm parent, const Place& place) {
  auto group = std::make_shared<MpiGroup>();
  CheckMpi(MPI_Comm_split(parent, place.color, place.rank, &group->collectives),
           "MPI_Comm_split");
  CheckMpi(MPI_Comm_dup(group->collectives, &group->messages), "MPI_Comm_dup");
  group->id = place.id;
  group->rank = place.rank;
  group->world_ranks = place.world_ranks;
  return group;
}

absl::StatusOr<std::unique_ptr<Communicator>> MpiComm::Split(int color,
                                                             int key) {
  LS_ASSIGN_OR_RETURN(const SplitGroup split, AgreeOnSplit(*this, color, key));
  // The same on all members, and another for any other split.
  uint64_t id = group_->id * 0x9e3779b97f4a7c15u + group_->sequence;
  id = id * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(color) + 1;
  return MakeMpiComm(world_, group_->collectives,
                     {.color = color,
                      .rank = split.rank,
                      .id = id,
                      .world_ranks = split.world_ranks});
}

}  // namespace

namespace mpi_internal {

std::unique_ptr<Communicator> MakeMpiComm(std::shared_ptr<MpiWorld> world,
                                          MPI_Comm parent, const Place& place) {
  const auto lock = world->Locked();
  return std::make_unique<MpiComm>(world, NewGroup(parent, place));
}

}  // namespace mpi_internal
}  // namespace lockstep
