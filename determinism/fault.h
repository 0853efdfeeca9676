// Faults on purpose: `--fault kind=flip,step=7,at=layers.3.mixer.in_proj,...`.
//
// A run can be told to break at an exact place, so that every detector can be
// shown to fire. FaultSpec is one such order as text; FaultPlan holds a rank's
// orders and is asked at operations (it is an OperationObserver) and at named
// points (`step.begin`, `save.shard.write`). A plan without orders does nothing
// and costs one test. Not a source of chance: which calls break is a function
// of the text, the step and the calls of that step alone, so that a replay
// meets the same faults. Code that gives verdicts must not depend on this.
//
// A place is `scope.operation[.phase]` or a point's name; a component (between
// dots) may be `*`. Among the calls of a step that match, the `occurrence`-th
// breaks (1 is the first and the default; `all`). Without `step` any step will
// do.
//   when=once  at `step` only; without `step`, the first time (default)
//   when=from  in every step from `step` on
//   when=p=0.5 in each such step with that probability, drawn by N9 at
//              (seed 0, step)
// The recomputation of a step (attempt > 0) meets the fault again unless
// replayed=no, which models hardware.
//
// With late=yes a tensor is damaged behind those who listen (`late()`): what
// they saw is not what the step goes on with.

#ifndef DETERMINISM_FAULT_H_
#define DETERMINISM_FAULT_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/fault_spec.h"
#include "determinism/operation.h"

namespace lockstep {

// A token that is to be read as another, by kind `document`.
struct ChangedToken {
  uint64_t order = 0;  // for FaultPlan::Met
  int64_t source = 0;
  int64_t document = 0;  // of the source
  int64_t token = 0;     // of the document
  std::string text;      // of the fault, as given
};

// What the injector does to a file call.
enum class FileFault : uint8_t { kNone, kEnospc, kEio, kShort, kLost };

// One a rank; any thread of the rank may call.
class FaultPlan : public OperationObserver {
 public:
  // `replay`: the run is a replay, so specs with replayed=no keep quiet.
  FaultPlan(const std::vector<FaultSpec>& specs, int rank, bool replay = false);

  // Of this rank.
  bool empty() const { return orders_.empty(); }

  // Starts counting occurrences anew. Call before the step's first operation,
  // then AtPoint("step.begin").
  void BeginStep(int64_t step, int attempt);

  // Acts at a named point: may kill, sleep, or return what raise, enospc and
  // eio order; also hands on an error that an operation could not return.
  absl::Status AtPoint(std::string_view point);

  // The same at a file call, where what file kinds order is for the caller to
  // carry out. Errors are those of raise and of operations.
  absl::StatusOr<FileFault> AtFileCall(std::string_view point);

  // Mutates outputs. An order that cannot be carried out (an element beyond
  // the tensor, a bit beyond the type) is an InputError from the next point.
  void AtOperation(const OperationEvent& event, bool late = false);
  void OnOperation(const OperationEvent& event) override { AtOperation(event); }
  // The last of all observers, for orders that are late; null: none is.
  OperationObserver* late();

  // Whether the collective of that name is not to take place: that of gradients
  // or that of weights. The same on every rank.
  bool Drops(std::string_view collective);
  // Whether the micro-batch draws from another stream; asked as often as one
  // likes.
  bool SlipsStream(int64_t micro_batch, std::span<const uint64_t> samples);

  // The global index to read in place of `sample`, by skip_sample.
  uint64_t SampleFor(uint64_t sample);

  // The tokens that this step reads as others, if it reads them at all; the
  // plan knows no documents, so who does that says when it has met one.
  std::vector<ChangedToken> ChangedTokens() const;
  void Met(uint64_t order);

  // Texts of the orders that have never been carried out on this rank.
  std::vector<std::string> Unfired() const;

 private:
  struct Late : OperationObserver {
    explicit Late(FaultPlan* plan) : plan(plan) {}
    void OnOperation(const OperationEvent& event) override {
      plan->AtOperation(event, true);
    }
    FaultPlan* plan;
  };
  struct Order {
    FaultSpec spec;
    uint64_t index = 0;  // in the constructor's list
    int64_t seen = 0;    // matching calls of this step and attempt
    int64_t fired = 0;
    // kStale: the operation's output, when it was last called here.
    std::vector<std::byte> before = {};
  };

  bool ActiveNow(const Order& order) const;
  // Counts a matching call and says whether it is the one to break.
  bool Due(Order& order) const;
  bool DueAtOperation(Order& order, const OperationEvent& event) const;
  // Carries out, or remembers for a later call, and says what went wrong.
  absl::Status AtTensor(Order& order, const OperationEvent& event) const;

  const int rank_;
  const bool replay_;
  mutable std::mutex mutex_;
  std::vector<Order> orders_;  // never grows or shrinks
  int64_t step_ = 0;
  int attempt_ = 0;
  absl::Status pending_;
  Late late_{this};
};

}  // namespace lockstep

#endif  // DETERMINISM_FAULT_H_
