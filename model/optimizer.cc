#include "model/optimizer.h"

#include <cmath>
#include <utility>

#include "determinism/check.h"
#include "determinism/math64.h"
#include "model/announce.h"
#include "model/gradient_summary.h"
#include "model/kernels/adamw/adamw.h"
#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/observe.h"
#include "model/update_fingerprints.h"

namespace lockstep {
namespace {

// Added to the norm before dividing, as everyone does who clips (Megatron).
constexpr double kClipEpsilon = 1e-6;

}  // namespace

void DescribeSection(Section& section, OptimizerConfig& config) {
  section.Real("lr", config.lr,
               {.min = 0.0, .max = 100.0, .help = "peak learning rate"});
  section.RealList("betas", config.betas,
                   {.min = 0.0,
                    .below = 1.0,
                    .min_count = 2,
                    .max_count = 2,
                    .help = "decay rates of Adam's two moments"});
  section.Real("eps", config.eps,
               {.max = 1.0, .above = 0.0, .help = "added outside the root"});
  section.Real("weight_decay", config.weight_decay,
               {.min = 0.0, .max = 10.0, .help = "decoupled; matrices only"});
  section.Real("clip", config.clip,
               {.min = 0.0, .help = "largest global gradient norm; 0: none"});
}

Optimizer::Optimizer(StateRegistry& registry, Device& device,
                     ParameterStore& store, const OptimizerConfig& config)
    : Stateful(registry, "optimizer"),
      device_(device),
      store_(store),
      config_(config),
      m_(Tensor::Zeros(device, DType::kF32, {store.master_elements()})),
      v_(Tensor::Zeros(device, DType::kF32, {store.master_elements()})) {}

int64_t Optimizer::OffsetOf(const Parameter& parameter) const {
  return parameter.master - store_.all().front().master;
}

Moments Optimizer::MomentsOf(const Parameter& parameter) const {
  const int64_t offset = OffsetOf(parameter);
  return {const_cast<float*>(m_.data<float>()) + offset,
          const_cast<float*>(v_.data<float>()) + offset};
}

void Optimizer::FinaliseGradients(const StepContext& context, double divisor) {
  LS_CHECK(divisor > 0) << "a step without valid tokens has no gradient";
  const StepContext reduction = context.In(Phase::kReduction);
  for (Parameter& p : store_.all()) {
    if (p.gradient.mode == GradientMode::kGrid) {
      GradFinalizeGrid(device_, {.n = p.owned_count(),
                                 .sum = p.gradient.grid + p.owned_first(),
                                 .grad = p.grad,
                                 .exponent = p.gradient.exponent,
                                 .divisor = divisor});
    } else {
      GradFinalize(device_,
                   {.n = p.owned_count(), .grad = p.grad, .divisor = divisor});
    }
    Observe(reduction, {p.spec.name, "gradient"}, {},
            {OwnedRef("grad", store_, p, p.grad)});
  }
}

double Optimizer::GradientNorm() const {
  return std::sqrt(SummariseGradients(device_, store_, false).squares.Round());
}

std::optional<NonFiniteGradient> Optimizer::FindNonFinite() const {
  for (const Parameter& p : store_.all()) {
    const int64_t element = FirstNonFinite(device_, p.grad, p.owned_count());
    if (element < 0) continue;
    return NonFiniteGradient{
        p.spec.index, p.LogicalElement(element, store_.placement().tensor)};
  }
  return std::nullopt;
}

double Optimizer::ClipFactor(double norm) const {
  if (config_.clip == 0.0) return 1.0;
  const double factor = config_.clip / (norm + kClipEpsilon);
  return factor < 1.0 ? factor : 1.0;
}

void Optimizer::Update(const StepContext& context, double lr,
                       double clip_factor, KnownFingerprints* known) {
  ++updates_;
  const double beta1 = config_.betas[0], beta2 = config_.betas[1];
  const StepContext phase = context.In(Phase::kOptimizer);
  for (Parameter& p : store_.all()) {
    float* m = m_.data<float>() + OffsetOf(p);
    float* v = v_.data<float>() + OffsetOf(p);
    void* runtime = p.owned_runtime() == p.master ? nullptr : p.owned_runtime();
    std::optional<UpdateFingerprints> prints;
    if (known != nullptr && p.speaks) {
      prints.emplace(p, store_.placement().tensor,
                     UpdateFingerprints::Written{m, v, runtime});
    }
    AdamW(device_,
          {.n = p.owned_count(),
           .grad = p.grad,
           .master = p.master,
           .m = m,
           .v = v,
           .runtime = runtime,
           .runtime_dtype = p.spec.runtime_dtype,
           .lr = lr,
           .beta1 = beta1,
           .beta2 = beta2,
           .eps = config_.eps,
           .weight_decay = p.spec.decay ? config_.weight_decay : 0.0,
           .clip = clip_factor,
           .bias_correction1 = 1.0 - math64::PowInt(beta1, updates_),
           .bias_correction2 = 1.0 - math64::PowInt(beta2, updates_)},
          prints ? prints->Watch() : AdamWBlockDone());
    if (prints) {
      prints->Tell(store_.name() + "/" + p.spec.name,
                   name() + "/" + p.spec.name, *known);
    }
    TensorRef weight = OwnedRef("runtime", store_, p, p.owned_runtime());
    weight.dtype = p.spec.runtime_dtype;
    Observe(phase, {p.spec.name, "adamw"},
            {OwnedRef("grad", store_, p, p.grad)},
            {OwnedRef("master", store_, p, p.master),
             OwnedRef("m", store_, p, m), OwnedRef("v", store_, p, v), weight});
  }
}

void Optimizer::VisitState(StateVisitor& visitor) {
  for (auto [suffix, moment] :
       {std::pair{kMomentSuffix, &m_}, std::pair{kSquareSuffix, &v_}}) {
    store_.VisitRows(visitor, suffix, StateGroup::kMoment,
                     [this, moment = moment](const Parameter& p) {
                       return moment->data<float>() + OffsetOf(p);
                     });
  }
  visitor.U64("updates", StateGroup::kCounter, updates_);
}

}  // namespace lockstep
