#include "tools/stepper.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/announce.h"
#include "model/gradient_summary.h"
#include "model/observe.h"
#include "parallel/over_ranks.h"
#include "tools/step_fingerprint.h"

namespace lockstep {
Stepper::Stepper(const RunConfig& config, const StepperOptions& options,
                 const Dataset* dataset, const ModelLayout& layout,
                 FaultPlan* faults)
    : config_(config),
      fingerprints_(config.metrics.fingerprints),
      dataset_(dataset),
      faults_(faults),
      device_(options.threads, options.isa),
      state_(registry_, config.seed),
      skip_list_(registry_),
      model_(registry_, device_, config.model, config.precision,
             config.optimizer,
             {.guarantee = config.guarantee,
              .tensor_grid = config.grid.tensor,
              .samples_per_leaf = config.grid.leaf,
              .tokens = config.data.sequence,
              .recompute = config.train.recompute,
              .overlap = config.parallel.overlap,
              .bucket_bytes = config.parallel.bucket_bytes},
             layout),
      scaler_(registry_, config.precision),
      spikes_(registry_, config.spike),
      schedule_(config.ResolveSchedule(options.schedule_length_samples)),
      prefetcher_(
          [dataset](uint64_t index, const SampleRows& rows) {
            return dataset->TrainSample(index, rows);
          },
          Prefetching()) {
  SetHooks();
}

absl::Status Stepper::Initialise() {
  model_.store().Initialise(state_.seed);
  return model_.reduction().GatherWeights();
}

void Stepper::ForgetGrid() {
  if (model_.grid() != nullptr) model_.grid()->Forget();
}

absl::StatusOr<std::string> Stepper::StateField() {
  return lockstep::StateField(world(), registry_);
}

absl::Status Stepper::AtFaultPoint(const char* point) {
  return faults_ == nullptr ? absl::OkStatus() : faults_->AtPoint(point);
}

absl::StatusOr<StepReport> Stepper::Step() {
  const ScopedFloatEnv float_env;
  Work work;
  absl::StatusOr<StepReport> report = TakeStep(work);
  KeepSamples(work);
  return report;
}

absl::StatusOr<StepReport> Stepper::TakeStep(Work& work) {
  work.report.step = static_cast<int64_t>(state_.iterations) + 1;
  LS_RETURN_IF_ERROR(AgreeOverRanks(world(), LoadSamples(work)));
  Ended(StepPart::kSamples);
  LS_RETURN_IF_ERROR(ComputeGradients(work));
  Ended(StepPart::kGradients);
  LS_RETURN_IF_ERROR(FinishGradients(work));
  Ended(StepPart::kReduction);
  absl::Status finite = CheckLosses(work);
  if (finite.ok()) finite = CheckGradients(work);
  if (!finite.ok() && !MaySkip(finite)) return finite;
  work.report.skipped = !finite.ok();
  LS_RETURN_IF_ERROR(JudgeSpike(work.report));
  Ended(StepPart::kChecks);
  LS_RETURN_IF_ERROR(FingerprintInputs(work));
  Ended(StepPart::kFingerprints);
  LS_RETURN_IF_ERROR(UpdateParameters(work));
  Ended(StepPart::kUpdate);
  AdvanceState(work);
  LS_RETURN_IF_ERROR(FingerprintState(work));
  Ended(StepPart::kFingerprints);
  LS_RETURN_IF_ERROR(AgreeOverRanks(world(), AtFaultPoint("step.end")));
  return std::move(work.report);
}

void Stepper::KeepSamples(Work& work) {
  last_samples_ = {std::move(work.samples), std::move(work.tokens_ST1),
                   std::move(work.mask_ST), std::move(work.losses_ST)};
}

absl::Status Stepper::FinishGradients(Work& work) {
  StepReport& report = work.report;
  if (!work.drops_sums) LS_RETURN_IF_ERROR(model_.reduction().Reduce());
  if (has_replicas()) AnnounceSums(Context(work, 0), model_.store());
  Optimizer& optimizer = model_.optimizer();
  optimizer.FinaliseGradients(Context(work, 0), work.divisor);
  LS_RETURN_IF_ERROR(AgreeOverRanks(world(), AtFaultPoint("grad.end")));
  auto grads = SummariseGradients(device_, model_.store(), fingerprints_);
  work.grads = std::move(grads.fingerprints);
  LS_RETURN_IF_ERROR(AddOverRanks(world(), grads.squares));
  report.grad_norm = std::sqrt(grads.squares.Round());
  // An entry that is not finite is in no sum on the grid.
  if (model_.grid() != nullptr && model_.grid()->NonFinite()) {
    report.grad_norm = std::numeric_limits<double>::infinity();
  }
  // Without inputs: what it is made of, other ranks have too.
  Observe(Context(work, 0).In(Phase::kClip), {"gradients", "norm"}, {},
          {Ref("norm", DType::kF64, &report.grad_norm, 1, 1, 1)});
  report.grad_norm_clipped =
      report.grad_norm * optimizer.ClipFactor(report.grad_norm);
  return absl::OkStatus();
}

// A skipped step moves the scale and with it the grids, or the count of spikes,
// and nothing else: no moment, no rate, no t.
void Stepper::SkipUpdate(const StepReport& report) {
  const double before = scaler_.scale();
  if (report.spike) {
    spikes_.Skipped();
  } else {
    scaler_.Overflow();
  }
  if (model_.grid() != nullptr)
    model_.grid()->Skipped(scaler_.scale() / before);
}

absl::Status Stepper::UpdateParameters(Work& work) {
  if (work.report.skipped) {
    SkipUpdate(work.report);
    return absl::OkStatus();
  }
  const auto samples =
      state_.update_samples + static_cast<uint64_t>(BatchSize());
  work.report.lr = schedule_.At(static_cast<int64_t>(samples));
  Optimizer& optimizer = model_.optimizer();
  // A planted fault may damage what the update wrote: then the state is read.
  const bool hot = fingerprints_ && (faults_ == nullptr || faults_->empty());
  optimizer.Update(Context(work, 0), work.report.lr,
                   optimizer.ClipFactor(work.report.grad_norm),
                   hot ? &work.known : nullptr);
  scaler_.Clean();
  spikes_.Applied(work.report.loss, work.report.grad_norm);
  if (model_.grid() != nullptr) {
    const int64_t next = config_.batches.At(
        static_cast<int64_t>(state_.samples_seen) + BatchSize());
    model_.grid()->Applied(next / config_.grid.leaf);
  }
  return GatherWeights(work);
}

void Stepper::AdvanceState(Work& work) {
  const auto samples = static_cast<uint64_t>(BatchSize());
  state_.iterations += 1;
  state_.samples_seen += samples;
  if (work.report.skipped) {
    state_.skipped += 1;
  } else {
    state_.update_samples += samples;
  }
  state_.tokens_seen += samples * static_cast<uint64_t>(config_.data.sequence);
  state_.cursor = work.cursor_after;
  work.report.updates = model_.optimizer().updates();
  work.report.samples_seen = static_cast<int64_t>(state_.samples_seen);
  work.report.tokens_seen = static_cast<int64_t>(state_.tokens_seen);
}

absl::Status Stepper::FingerprintInputs(Work& work) {
  if (!fingerprints_) return absl::OkStatus();
  StepInputs inputs;
  if (layout().counts_losses()) {
    AddSamples(work.samples, config_.data.sequence, work.tokens_ST1,
               work.mask_ST, work.losses_ST, inputs);
  }
  inputs.grads = GradientShares(model_.store(), work.grads);
  return AddInputFields(world(), std::move(inputs), config_.data.sequence,
                        work.report.fingerprint);
}

absl::Status Stepper::FingerprintState(Work& work) {
  if (!fingerprints_) return absl::OkStatus();
  return AddStateFields(world(), registry_, work.known,
                        work.report.fingerprint);
}

}  // namespace lockstep
