// AdamW with global clipping over fp32 masters (MODEL 3, N6, N10).
//
// What it is: from gradient sums to final gradients and their exact norm, and
// from those to new masters and run-time weights, in one place. What it is not:
// a schedule (the rate is an argument) or a policy on what to do with a
// non-finite gradient (the caller decides before Update; no state has moved).
// Why so: the norm is over the final gradients, each logical parameter once,
// squares summed exactly, so no layout can change it; a norm of norms is
// another number. All of it is of the rows that this rank owns: what ranks find
// is merged by the caller.
#ifndef LOCKSTEP_MODEL_OPTIMIZER_H_
#define LOCKSTEP_MODEL_OPTIMIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "determinism/operation.h"
#include "determinism/state.h"
#include "determinism/state_fingerprint.h"
#include "model/device.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"
#include "recipes/section.h"

namespace lockstep {

struct OptimizerConfig {
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.95};
  double eps = 1e-8;
  double weight_decay = 0.1;
  double clip = 1.0;  // of the global norm; 0: no clipping
};

void DescribeSection(Section& section, OptimizerConfig& config);

// The first parameter (in list order) with a non-finite gradient.
struct NonFiniteGradient {
  int64_t tensor;   // its place in the list of the whole model
  int64_t element;  // of the unsharded tensor
};

// Of a parameter's owned rows.
struct Moments {
  float* m;
  float* v;
};

class Optimizer : public Stateful {
 public:
  Optimizer(StateRegistry& registry, Device& device, ParameterStore& store,
            const OptimizerConfig& config);

  // From a sum to fp32(fp64(sum) / divisor), divisor = valid tokens times the
  // loss scale, > 0; integer sums are on their grid (N5). Afterwards the
  // store's gradients are final.
  void FinaliseGradients(const StepContext& context, double divisor);
  // Exact, over the final gradients, of a rank that has all of them; a rank
  // that does not asks for squares (gradient_summary.h).
  double GradientNorm() const;
  std::optional<NonFiniteGradient> FindNonFinite() const;

  // Factor that clipping applies to gradients of that norm; 1 if none.
  double ClipFactor(double norm) const;

  // One AdamW update of all parameters, then their run-time weights. `known`,
  // if given, gets the fingerprints of what was written, as it was written.
  void Update(const StepContext& context, double lr, double clip_factor,
              KnownFingerprints* known = nullptr);

  // For who announces them: a fault may break them there.
  Moments MomentsOf(const Parameter& parameter) const;

  int64_t updates() const { return static_cast<int64_t>(updates_); }

  void VisitState(StateVisitor& visitor) override;

 private:
  Device& device_;
  ParameterStore& store_;
  OptimizerConfig config_;
  Tensor m_;  // both moments mirror the arena of the masters
  Tensor v_;
  uint64_t updates_ = 0;  // Adam's t

  int64_t OffsetOf(const Parameter& parameter) const;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_OPTIMIZER_H_
