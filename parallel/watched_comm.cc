// A communicator that tells a watchdog what it is at.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "determinism/status.h"
#include "parallel/collective.h"
#include "parallel/watchdog.h"

namespace lockstep {
namespace {

// The wait is the call that can hang: Start returns at once.
class WatchedPending : public PendingCollective {
 public:
  WatchedPending(Communicator::Pending inner, Watchdog* watchdog,
                 std::string group, std::string collective)
      : inner_(std::move(inner)),
        watchdog_(watchdog),
        group_(std::move(group)),
        collective_(std::move(collective)) {}

  absl::Status Wait() override {
    watchdog_->BeginCall(group_, collective_);
    const absl::Status status = inner_->Wait();
    watchdog_->EndCall(status);
    return status;
  }
  void MoveInBackground() override { inner_->MoveInBackground(); }
  bool Ended() const override { return inner_->Ended(); }

 private:
  const Communicator::Pending inner_;
  Watchdog* const watchdog_;
  const std::string group_, collective_;
};

class WatchedComm : public Communicator {
 public:
  WatchedComm(std::unique_ptr<Communicator> inner, Watchdog* watchdog,
              std::string name)
      : inner_(std::move(inner)), watchdog_(watchdog), name_(std::move(name)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int WorldRank(int rank) const override { return inner_->WorldRank(rank); }

  std::vector<int> AwaitedRanks() const override {
    return inner_->AwaitedRanks();
  }

  Pending Start(const Collective& call) override {
    std::string told = Describe(ShapeOf(call));
    if (!call.purpose.empty()) told += ", " + call.purpose;
    return std::make_unique<WatchedPending>(inner_->Start(call), watchdog_,
                                            name_, std::move(told));
  }

  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    return Watched(Told("send", bytes.size(), "to", peer),
                   [&] { return inner_->Send(bytes, peer, tag); });
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override {
    return Watched(Told("receive", bytes.size(), "from", peer),
                   [&] { return inner_->Recv(bytes, peer, tag); });
  }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override {
    std::unique_ptr<Communicator> child;
    LS_RETURN_IF_ERROR(Watched("split", [&]() -> absl::Status {
      LS_ASSIGN_OR_RETURN(child, inner_->Split(color, key));
      return absl::OkStatus();
    }));
    return WatchCommunicator(std::move(child), watchdog_,
                             name_ + "." + std::to_string(color));
  }

 private:
  std::string Told(const char* what, size_t bytes, const char* way,
                   int peer) const {
    return std::string(what) + " of " + std::to_string(bytes) + " bytes " +
           way + " rank " + std::to_string(WorldRank(peer));
  }

  template <typename Call>
  absl::Status Watched(std::string told, Call call) {
    watchdog_->BeginCall(name_, std::move(told));
    const absl::Status status = call();
    watchdog_->EndCall(status);
    return status;
  }

  const std::unique_ptr<Communicator> inner_;
  Watchdog* const watchdog_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<Communicator> WatchCommunicator(
    std::unique_ptr<Communicator> inner, Watchdog* watchdog, std::string name) {
  return std::make_unique<WatchedComm>(std::move(inner), watchdog,
                                       std::move(name));
}

}  // namespace lockstep
