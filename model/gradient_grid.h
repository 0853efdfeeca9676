// The exponents of N5: which grid each parameter's gradient is added on.
//
// What it is: one exponent a parameter tensor, as registered state, and the
// protocol that moves it: probe, judge, compute once more, go on. What it is
// not: the sums (gradient_sum.h) or the rounding (kernels/grid.h). Why so: the
// grid must be known before the first leaf is rounded and be the same on every
// rank, so it comes from the step before; and what a step decides is kept apart
// from what is state, since a step that is computed again or skipped must
// leave nothing behind.
#ifndef LOCKSTEP_MODEL_GRADIENT_GRID_H_
#define LOCKSTEP_MODEL_GRADIENT_GRID_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "determinism/state.h"
#include "model/kernels/grid.h"
#include "model/model_layout.h"
#include "model/parameters.h"

namespace lockstep {

// What a pass over the step's leaves has come to.
enum class GridVerdict : uint8_t {
  kDone,       // the sums hold
  kProbed,     // there were tensors without an exponent; now all have one
  kOverflowed  // sums may have left int64; the tensors got a smaller exponent
};

class GradientGrid : public Stateful {
 public:
  // `specs` is the whole model's list, on every rank. Pre-norms and the final
  // norm have `token_slices` leaves where other tensors have one (N4): the
  // slices of each of its samples.
  GradientGrid(StateRegistry& registry, const std::vector<ParameterSpec>& specs,
               int64_t token_slices);

  // No tensor has an exponent: the next step begins with a probe.
  void Forget();

  // Begins a step of so many leaves (of a tensor that is not cut by tokens):
  // exponents as they stand.
  void BeginStep(int64_t leaves);
  // Before a pass: what the store's parameters add on. Clears statistics, not
  // the sums.
  void BeginPass(ParameterStore& store);

  // Whether this pass is a probe: some tensor has no exponent. Equal on all
  // ranks.
  bool probes() const;

  // After a pass: maxima and counts over all ranks. A parameter that several
  // ranks hold in full is counted by the one that speaks for it.
  absl::Status Collect(const ParameterStore& store, const ModelLayout& layout);

  // The first tensor with a leaf that is not finite. Asked for first.
  std::optional<std::string> NonFinite() const;
  // Equal on all ranks. After kProbed and kOverflowed the pass is to be made
  // again, with the exponents that follow from its own maxima.
  GridVerdict Judge(double loss_scale);
  // Tensors that Judge found to overflow in this step, in list order.
  const std::vector<std::string>& overflowed() const { return overflowed_; }
  // Entries that vanished below the grid in the last pass, by tensor; tensors
  // without any are not there.
  std::map<std::string, int64_t> BelowGrid() const;

  // The step was applied: the next one has `leaves`.
  void Applied(int64_t leaves);
  // It was skipped, and the loss scale has changed by `factor`, a power of two.
  void Skipped(double factor);

  void VisitState(StateVisitor& visitor) override;

 private:
  // No exponent that a maximum can ask for.
  static constexpr int64_t kNone = 1 << 20;

  int64_t LeavesOf(size_t tensor, int64_t leaves) const {
    return leaves * cuts_[tensor];
  }

  std::vector<std::string> names_;
  std::vector<int64_t> cuts_;      // leaves of a tensor for each leaf of a step
  std::vector<int64_t> exponent_;  // state
  std::vector<int64_t> working_;   // of the step at hand
  std::vector<GridStats> stats_;   // of the last pass, over all ranks
  std::vector<std::string> overflowed_;
  int64_t leaves_ = 0;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_GRID_H_
