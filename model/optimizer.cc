#include "model/optimizer.h"

#include <cmath>
#include <mutex>

#include "determinism/check.h"
#include "determinism/exact_sum.h"
#include "determinism/math64.h"
#include "model/kernels/adamw/adamw.h"
#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/observe.h"

namespace lockstep {
namespace {

// Added to the norm before dividing, as everyone does who clips (Megatron).
constexpr double kClipEpsilon = 1e-6;

int64_t ArenaSize(const ParameterStore& store) {
  const Parameter& first = store.all().front();
  const Parameter& last = store.all().back();
  return last.master - first.master + last.spec.memory();
}

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
      m_(Tensor::Zeros(device, DType::kF32, {ArenaSize(store)})),
      v_(Tensor::Zeros(device, DType::kF32, {ArenaSize(store)})) {}

int64_t Optimizer::OffsetOf(const Parameter& parameter) const {
  return parameter.master - store_.all().front().master;
}

void Optimizer::FinaliseGradients(const StepContext& context, double divisor) {
  LS_CHECK(divisor > 0) << "a step without valid tokens has no gradient";
  const StepContext reduction = context.In(Phase::kReduction);
  for (Parameter& p : store_.all()) {
    GradFinalize(device_,
                 {.n = p.spec.count(), .grad = p.grad, .divisor = divisor});
    Observe(reduction, {p.spec.name, "gradient"}, {},
            {{"grad", DType::kF32, p.spec.shape, p.grad}});
  }
}

double Optimizer::GradientNorm() const {
  ExactSum total;
  std::mutex mutex;  // exact sums merge in any order to the same value
  const auto& parameters = store_.all();
  device_.threads().ParallelFor(
      static_cast<int64_t>(parameters.size()), [&](int64_t begin, int64_t end) {
        ExactSum part;
        for (int64_t i = begin; i < end; ++i) {
          const Parameter& p = parameters[static_cast<size_t>(i)];
          part.AddSquares({p.grad, static_cast<size_t>(p.spec.count())});
        }
        const std::lock_guard<std::mutex> lock(mutex);
        total.Merge(part);
      });
  return std::sqrt(total.Round());
}

std::optional<NonFiniteGradient> Optimizer::FindNonFinite() const {
  for (const Parameter& p : store_.all()) {
    const int64_t element = FirstNonFinite(device_, p.grad, p.spec.count());
    if (element >= 0) return NonFiniteGradient{p.spec.name, element};
  }
  return std::nullopt;
}

double Optimizer::ClipFactor(double norm) const {
  if (config_.clip == 0.0) return 1.0;
  const double factor = config_.clip / (norm + kClipEpsilon);
  return factor < 1.0 ? factor : 1.0;
}

void Optimizer::Update(const StepContext& context, double lr,
                       double clip_factor) {
  ++updates_;
  const double beta1 = config_.betas[0], beta2 = config_.betas[1];
  const StepContext phase = context.In(Phase::kOptimizer);
  for (Parameter& p : store_.all()) {
    float* m = m_.data<float>() + OffsetOf(p);
    float* v = v_.data<float>() + OffsetOf(p);
    AdamW(device_, {.n = p.spec.count(),
                    .grad = p.grad,
                    .master = p.master,
                    .m = m,
                    .v = v,
                    .runtime = p.runtime == p.master ? nullptr : p.runtime,
                    .runtime_dtype = p.spec.runtime_dtype,
                    .lr = lr,
                    .beta1 = beta1,
                    .beta2 = beta2,
                    .eps = config_.eps,
                    .weight_decay = p.spec.decay ? config_.weight_decay : 0.0,
                    .clip = clip_factor,
                    .bias_correction1 = 1.0 - math64::PowInt(beta1, updates_),
                    .bias_correction2 = 1.0 - math64::PowInt(beta2, updates_)});
    Observe(phase, {p.spec.name, "adamw"},
            {{"grad", DType::kF32, p.spec.shape, p.grad}},
            {{"master", DType::kF32, p.spec.shape, p.master},
             {"m", DType::kF32, p.spec.shape, m},
             {"v", DType::kF32, p.spec.shape, v},
             {"runtime", p.spec.runtime_dtype, p.spec.shape, p.runtime}});
  }
}

void Optimizer::VisitState(StateVisitor& visitor) {
  for (Parameter& p : store_.all()) {
    const std::vector<int64_t>& shape = p.spec.shape;
    const std::vector<int64_t> origin(shape.size(), 0);
    visitor.Tensor({p.spec.name + ".exp_avg", StateGroup::kMoment, DType::kF32,
                    shape, origin, shape, m_.data<float>() + OffsetOf(p)});
    visitor.Tensor({p.spec.name + ".exp_avg_sq", StateGroup::kMoment,
                    DType::kF32, shape, origin, shape,
                    v_.data<float>() + OffsetOf(p)});
  }
  visitor.U64("updates", StateGroup::kCounter, updates_);
}

}  // namespace lockstep
