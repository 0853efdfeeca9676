// What a step tells observers beside its layers' operations, and what ranks
// exchange between phases.
#include "determinism/status.h"
#include "model/announce.h"
#include "tools/stepper.h"

namespace lockstep {

// Its faults are those of the step that follows; what a launch does before that
// is of no step.
absl::Status Stepper::RestoreRuntime() {
  const auto next = static_cast<int64_t>(state_.iterations) + 1;
  if (faults_ != nullptr) faults_->BeginStep(next, 0);
  const Work work;
  AnnounceState(Context(work, 0).In(Phase::kLoad), model_.store(),
                model_.optimizer());
  model_.store().ConvertAll();
  AnnounceConversion(Context(work, 0), model_.store());
  if (faults_ != nullptr) faults_->BeginStep(0, 0);
  return model_.reduction().GatherWeights();
}

void Stepper::SetHooks() {
  hooks_ = OperationHooks();
  const bool breaks = faults_ != nullptr && !faults_->empty();
  if (breaks) hooks_.Add(faults_);
  for (OperationObserver* observer : observers_) hooks_.Add(observer);
  OperationObserver* late = breaks ? faults_->late() : nullptr;
  if (late != nullptr) hooks_.Add(late);
}

void Stepper::AddObserver(OperationObserver* observer) {
  observers_.push_back(observer);
  SetHooks();
}

void Stepper::AddTracer(OperationObserver* tracer) {
  device_.WatchKernels();
  AddObserver(tracer);
  OperationHooks alone;
  alone.Add(tracer);
  const StepContext context = Context(Work{}, 0, alone);
  AnnounceState(context.In(Phase::kLoad), model_.store(), model_.optimizer());
  AnnounceConversion(context, model_.store());
}

void Stepper::AnnounceSave() {
  StepContext context = Context(Work{}, 0).In(Phase::kSave);
  --context.step;
  AnnounceState(context, model_.store(), model_.optimizer());
}

// Of all ranks alike, so that none waits for another.
bool Stepper::Drops(const char* collective) {
  return faults_ != nullptr && has_replicas() && faults_->Drops(collective);
}

absl::Status Stepper::GatherWeights(const Work& work) {
  if (!has_replicas()) return absl::OkStatus();
  if (!Drops("weights.all_gather")) {
    LS_RETURN_IF_ERROR(model_.reduction().GatherWeights());
  }
  AnnounceWeights(Context(work, 0), model_.store());
  return absl::OkStatus();
}

}  // namespace lockstep
