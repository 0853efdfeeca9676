// A library whose calls leave the float environment changed (N2).
//
// What it is: a communicator around another whose every call spoils the calling
// thread. What it is not: an error: the calls do what they should. Why so:
// device libraries, profilers and MPI transports have set the rounding or the
// flushing of subnormals of the thread that called them.
#ifndef LOCKSTEP_TESTS_CASES_SPOILING_COMM_H_
#define LOCKSTEP_TESTS_CASES_SPOILING_COMM_H_

#include <xmmintrin.h>

#include <memory>
#include <span>
#include <utility>

#include "determinism/status.h"
#include "parallel/communicator.h"

namespace lockstep {

// What a library might leave behind: rounding up, subnormals kept.
inline void SpoilFloatEnv() { _mm_setcsr(0x1f80u | 0x4000u); }

class SpoilingComm : public Communicator {
 public:
  explicit SpoilingComm(std::unique_ptr<Communicator> base)
      : owned_(std::move(base)), base_(*owned_) {}
  // Of a base that lives longer.
  explicit SpoilingComm(Communicator& base) : base_(base) {}

  int rank() const override { return base_.rank(); }
  int size() const override { return base_.size(); }
  int WorldRank(int rank) const override { return base_.WorldRank(rank); }
  Pending Start(const Collective& call) override {
    SpoilFloatEnv();
    return base_.Start(call);
  }
  absl::Status Send(std::span<const std::byte> bytes, int peer,
                    int tag) override {
    const absl::Status sent = base_.Send(bytes, peer, tag);
    SpoilFloatEnv();
    return sent;
  }
  absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) override {
    const absl::Status received = base_.Recv(bytes, peer, tag);
    SpoilFloatEnv();
    return received;
  }
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                      int key) override {
    LS_ASSIGN_OR_RETURN(auto part, base_.Split(color, key));
    return std::make_unique<SpoilingComm>(std::move(part));
  }

 private:
  const std::unique_ptr<Communicator> owned_;
  Communicator& base_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_CASES_SPOILING_COMM_H_
