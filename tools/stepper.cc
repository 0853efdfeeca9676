#include "tools/stepper.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tools/step_fingerprint.h"

namespace lockstep {
namespace {

std::string Where(const StepReport& report) {
  return absl::StrCat("step ", report.step, ", samples ", report.sample_first,
                      " to ", report.sample_last);
}

absl::Status NonFinite(const std::string& what, const std::string& where) {
  return NumericFailure(
      what, where,
      "the step was not applied and no checkpoint was written; look at these "
      "samples, lower optimizer.lr, or resume from an earlier checkpoint");
}

}  // namespace

Stepper::Stepper(const RunConfig& config, const StepperOptions& options,
                 const Dataset* dataset, Communicator* communicator,
                 FaultPlan* faults)
    : config_(config),
      dataset_(dataset),
      communicator_(communicator),
      faults_(faults),
      device_(options.threads, options.isa),
      state_(registry_, config.seed),
      skip_list_(registry_),
      store_(registry_, device_,
             ListParameters(config.model, config.precision.storage(),
                            config.grid.tensor)),
      optimizer_(registry_, device_, store_, config.optimizer),
      scaler_(registry_, config.precision),
      spikes_(registry_, config.spike),
      stage_(config.model, store_, config.grid.tensor, config.train.recompute),
      schedule_(config.ResolveSchedule(options.schedule_length_samples)),
      prefetcher_(
          [dataset](uint64_t index, const SampleRows& rows) {
            return dataset->TrainSample(index, rows);
          },
          Prefetching()) {
  if (faults_ != nullptr && !faults_->empty()) hooks_.Add(faults_);
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
  if (faults_ != nullptr) {
    faults_->BeginStep(work.report.step, 0);
    LS_RETURN_IF_ERROR(faults_->AtPoint("step.begin"));
  }
  AdoptDueSkips();
  LS_RETURN_IF_ERROR(LoadSamples(work));
  LS_RETURN_IF_ERROR(ForwardBackward(work));
  LS_RETURN_IF_ERROR(ReduceLoss(work));
  LS_RETURN_IF_ERROR(FinishGradients(work));
  absl::Status finite = CheckLosses(work);
  if (finite.ok()) finite = CheckGradients(work);
  if (!finite.ok() && !MaySkip(finite)) return finite;
  work.report.skipped = !finite.ok();
  LS_RETURN_IF_ERROR(JudgeSpike(work.report));
  FingerprintInputs(work);
  UpdateParameters(work);
  AdvanceState(work);
  FingerprintState(work);
  if (faults_ != nullptr) LS_RETURN_IF_ERROR(faults_->AtPoint("step.end"));
  return std::move(work.report);
}

void Stepper::KeepSamples(Work& work) {
  last_samples_ = {std::move(work.samples), std::move(work.tokens_ST1),
                   std::move(work.mask_ST), std::move(work.losses_ST)};
}

absl::Status Stepper::CheckLosses(const Work& work) const {
  if (std::isfinite(work.report.loss)) return absl::OkStatus();
  const int64_t tokens = config_.data.sequence;
  std::string samples;
  for (size_t i = 0; i < work.losses_ST.size(); ++i) {
    if (std::isfinite(work.losses_ST[i])) continue;
    const uint64_t sample = work.samples[i / static_cast<size_t>(tokens)];
    samples = absl::StrCat("sample ", sample, ", position ",
                           i % static_cast<size_t>(tokens));
    break;
  }
  return NonFinite(absl::StrCat("the loss is ", work.report.loss),
                   absl::StrCat("step ", work.report.step,
                                ", tensor lm_head.loss, first at ", samples));
}

absl::Status Stepper::FinishGradients(Work& work) {
  StepReport& report = work.report;
  optimizer_.FinaliseGradients(Context(work, 0), work.divisor);
  if (faults_ != nullptr) LS_RETURN_IF_ERROR(faults_->AtPoint("grad.end"));
  report.grad_norm = optimizer_.GradientNorm();
  report.grad_norm_clipped =
      report.grad_norm * optimizer_.ClipFactor(report.grad_norm);
  return absl::OkStatus();
}

absl::Status Stepper::CheckGradients(const Work& work) const {
  const auto bad = optimizer_.FindNonFinite();
  if (!bad) return absl::OkStatus();
  return NonFinite("a gradient is not finite",
                   absl::StrCat(Where(work.report), ", tensor ", bad->tensor,
                                ", element ", bad->element));
}

// The scale can be blamed as long as there is a smaller one to try.
bool Stepper::MaySkip(const absl::Status& finite) const {
  return absl::IsOutOfRange(finite) && scaler_.dynamic() &&
         !scaler_.at_minimum();
}

// From reduced values, so that every rank decides alike, and before anything
// has moved.
absl::Status Stepper::JudgeSpike(StepReport& report) const {
  if (report.skipped) return absl::OkStatus();
  report.spike = spikes_.Judge(report.loss, report.grad_norm);
  if (!report.spike) return absl::OkStatus();
  if (spikes_.Stops()) return spikes_.Stopped(*report.spike, Where(report));
  report.skipped = spikes_.Skips();
  return absl::OkStatus();
}

// A skipped step moves the scale, or the count of spikes, and nothing else: no
// moment, no rate, no t.
void Stepper::UpdateParameters(Work& work) {
  if (work.report.skipped) {
    return work.report.spike ? spikes_.Skipped() : scaler_.Overflow();
  }
  const auto samples =
      state_.update_samples + static_cast<uint64_t>(BatchSize());
  work.report.lr = schedule_.At(static_cast<int64_t>(samples));
  optimizer_.Update(Context(work, 0), work.report.lr,
                    optimizer_.ClipFactor(work.report.grad_norm));
  scaler_.Clean();
  spikes_.Applied(work.report.loss, work.report.grad_norm);
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
  state_.cursor = work.samples.back() + 1;
  work.report.updates = optimizer_.updates();
  work.report.samples_seen = static_cast<int64_t>(state_.samples_seen);
  work.report.tokens_seen = static_cast<int64_t>(state_.tokens_seen);
}

void Stepper::FingerprintInputs(Work& work) {
  if (!config_.metrics.fingerprints) return;
  auto& fields = work.report.fingerprint;
  const int64_t tokens = config_.data.sequence;
  fields["data"] =
      DataField(work.samples, tokens, work.tokens_ST1, work.mask_ST);
  fields["loss"] = LossField(work.samples, tokens, work.losses_ST);
  fields["grads"] = GradientField(store_);
}

void Stepper::FingerprintState(Work& work) {
  if (!config_.metrics.fingerprints) return;
  AddStateFields(registry_, work.report.fingerprint);
}

}  // namespace lockstep
