#include "tests/plan/counting_comm.h"

#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class CountingComm : public Communicator {
 public:
  CountingComm(Communicator* inner, AxisTraffic* said)
      : inner_(inner), said_(said) {}
  CountingComm(std::unique_ptr<Communicator> inner, AxisTraffic* said)
      : owned_(std::move(inner)), inner_(owned_.get()), said_(said) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int WorldRank(int rank) const override { return inner_->WorldRank(rank); }
  Pending Start(const Collective& call) override {
    Count(call.data.size());
    return inner_->Start(call);
  }
  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    Count(bytes.size());
    return inner_->Send(bytes, peer, tag);
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override {
    return inner_->Recv(bytes, peer, tag);
  }
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override {
    LS_ASSIGN_OR_RETURN(auto child, inner_->Split(color, key));
    return std::make_unique<CountingComm>(std::move(child), said_);
  }

 protected:
  void Count(size_t bytes) {
    if (said_ == nullptr) return;
    *said_ += {1, static_cast<double>(bytes)};
  }

  std::unique_ptr<Communicator> owned_;
  Communicator* inner_;
  AxisTraffic* said_;
};

class CountingWorld : public CountingComm {
 public:
  CountingWorld(Communicator* world, SaidByAxis* said)
      : CountingComm(world, nullptr),
        axes_{&said->data, &said->pipeline, &said->tensor} {}

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override {
    LS_ASSIGN_OR_RETURN(auto child, inner_->Split(color, key));
    LS_CHECK(next_ < axes_.size()) << "more splits than a layout has axes";
    return std::make_unique<CountingComm>(std::move(child), axes_[next_++]);
  }

 private:
  std::array<AxisTraffic*, 3> axes_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> CountWorld(Communicator* world,
                                         SaidByAxis* said) {
  return std::make_unique<CountingWorld>(world, said);
}

}  // namespace lockstep
