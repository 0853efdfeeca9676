// One training step as named phases, and all that it works on.
//
// What it is: the one class that train, replay and bisect step with: it owns
// device, state, a rank's part of the model and the data, and moves them by one
// step, together with the other ranks of its layout. What it is not: a loop, a
// run folder or a policy: when to save, evaluate or stop is decided elsewhere.
// Why so: whoever replays a run must run the same code, and state moves in one
// place only, after everything that can refuse the step. Every decision is made
// from numbers that were merged over all ranks.
#ifndef LOCKSTEP_TOOLS_STEPPER_H_
#define LOCKSTEP_TOOLS_STEPPER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/data_fingerprint.h"
#include "data/dataset.h"
#include "data/prefetch.h"
#include "determinism/fault.h"
#include "determinism/operation.h"
#include "determinism/state_fingerprint.h"
#include "model/device.h"
#include "model/loss_scaler.h"
#include "model/model_layout.h"
#include "model/model_rank.h"
#include "model/schedule.h"
#include "tools/run_config.h"
#include "tools/run_state.h"
#include "tools/skip_list.h"
#include "tools/spike_detector.h"
#include "tools/step_report.h"
#include "tools/stepper_options.h"

namespace lockstep {

class Stepper {
 public:
  // All pointers, the layout's too, are borrowed and outlive the stepper;
  // `faults` may be null.
  Stepper(const RunConfig& config, const StepperOptions& options,
          const Dataset* dataset, const ModelLayout& layout, FaultPlan* faults);

  // Draws initial weights: a fresh start. A resume loads instead, then calls
  // RestoreRuntime (N10). Collective, as Step and StateField are: every rank
  // calls.
  absl::Status Initialise();
  absl::Status RestoreRuntime();
  // After a load that had no exponents of gradients: the next step probes (N5).
  void ForgetGrid();
  // Of a fork, whose recipe's seed counts and not its parent's.
  void TakeSeed() { state_.seed = config_.seed; }

  // The next step. Non-finite losses or gradients skip the update where the
  // loss scale may be to blame (fp16 above its smallest scale); otherwise they
  // are a NumericFailure (exit 5), which names step, tensor and samples and
  // leaves every registered state as it was. A spike does what `spike.action`
  // says, likewise. All ranks get the same answer, or RankLost.
  absl::StatusOr<StepReport> Step();

  // The `state` fingerprint of all ranks.
  absl::StatusOr<std::string> StateField();

  // Of the last Step() that had losses, even if it failed; of this replica.
  const StepSamples& last_samples() const { return last_samples_; }

  // The run's adoptions, as its ledger has them: those that the restored state
  // lacks are adopted once the cursor is there, so that a run that went back
  // meets them where it did.
  absl::Status PlanSkips(std::vector<SkipRange> recorded);
  // The ranges of the restored state and those to come.
  absl::StatusOr<std::vector<SkipRange>> AllSkips() const;
  // What is read from here on, planned adoptions included.
  absl::StatusOr<SampleStream> stream() const;
  // Samples from here to the end of the run, whatever is passed over.
  uint64_t samples_to_go() const;
  // For a person: where the samples of the rest of the run come from.
  absl::StatusOr<std::string> DescribeDraws() const;

  // Adds a tracer behind the fault injector, and before what it does late.
  void AddObserver(OperationObserver* observer);
  // The same, and tells it of what the next step begins with, in phase `load`;
  // from here on operations say which kernels ran.
  void AddTracer(OperationObserver* tracer);
  // Tells all observers of the state that a checkpoint is to hold.
  void AnnounceSave();

  // Calls `watch` with the micro-batches of the step that are done, and their
  // number, after each: for a display, which a step of hours needs too.
  void WatchMicroBatches(std::function<void(int64_t, int64_t)> watch) {
    watch_ = std::move(watch);
  }

  // Calls `watch` at the end of each part.
  void WatchParts(std::function<void(StepPart)> watch) {
    watch_parts_ = std::move(watch);
  }

  // Instead of metrics.fingerprints, for who measures their price (N12).
  void SetFingerprints(bool on) { fingerprints_ = on; }

  StateRegistry& registry() { return registry_; }
  Device& device() { return device_; }
  Pipeline& pipeline() { return model_.pipeline(); }
  TensorAxis* tensor_axis() { return model_.axis(); }
  const ModelLayout& layout() const { return model_.layout(); }
  const RunState& state() const { return state_; }
  const SkipList& skip_list() const { return skip_list_; }
  const RunConfig& config() const { return config_; }
  const Dataset& dataset() const { return *dataset_; }
  int64_t parameter_count() const { return model_.store().count(); }

 private:
  // What the phases of one step hand to each other.
  struct Work {
    StepReport report;
    std::vector<uint64_t> samples;    // of this replica, global, ascending
    std::vector<int32_t> tokens_ST1;  // samples x (tokens + 1)
    std::vector<uint8_t> mask_ST;
    std::vector<int32_t> segments_ST;  // empty: no document resets
    std::vector<float> losses_ST;      // 0 on ranks that do not have them
    uint64_t cursor_after = 0;
    bool drops_sums = false;         // a fault: replicas keep their own
    double divisor = 0;              // valid tokens times the loss scale
    std::vector<Fingerprint> grads;  // one a parameter of the store
    KnownFingerprints known;         // of what the update wrote
  };
  class StepSource;

  // Samples of the step at hand, until its counters move.
  int64_t BatchSize() const {
    return config_.batches.At(static_cast<int64_t>(state_.samples_seen));
  }
  StepContext Context(const Work& work, int64_t micro_batch);
  StepContext Context(const Work& work, int64_t micro_batch,
                      OperationHooks& hooks);
  void SetHooks();
  absl::StatusOr<StepReport> TakeStep(Work& work);
  void KeepSamples(Work& work);
  void AdoptDueSkips();
  bool ReadsAhead() const;
  PrefetchOptions Prefetching() const;
  absl::StatusOr<std::vector<std::vector<uint64_t>>> NextBatches() const;
  std::vector<uint64_t> ShareOf(const std::vector<uint64_t>& batch) const;
  absl::Status BeginAttempt(Work& work, int attempt);
  absl::Status LoadSamples(Work& work);
  absl::Status ComputeGradients(Work& work);
  absl::StatusOr<bool> PassHolds(Work& work);
  absl::Status ForwardBackward(Work& work);
  absl::Status ReduceLoss(Work& work);
  // OK if all is finite, else what is not; an error of another class ends the
  // step.
  absl::Status CheckLosses(const Work& work);
  absl::Status FinishGradients(Work& work);
  absl::Status CheckGradients(const Work& work);
  bool MaySkip(const absl::Status& finite) const;
  absl::Status JudgeSpike(StepReport& report) const;
  absl::Status UpdateParameters(Work& work);
  void SkipUpdate(const StepReport& report);
  void AdvanceState(Work& work);
  absl::Status FingerprintInputs(Work& work);
  absl::Status FingerprintState(Work& work);
  Communicator& world() const { return *model_.layout().world; }
  absl::Status AtFaultPoint(const char* point);
  bool Drops(const char* collective);
  absl::Status GatherWeights(const Work& work);
  bool has_replicas() const { return layout().shape.data > 1; }
  void Ended(StepPart part) const {
    if (watch_parts_) watch_parts_(part);
  }

  const RunConfig config_;
  bool fingerprints_;
  const Dataset* dataset_;
  FaultPlan* faults_;
  std::vector<OperationObserver*> observers_;
  OperationHooks hooks_;
  Device device_;
  StateRegistry registry_;
  RunState state_;
  SkipList skip_list_;
  std::vector<SkipRange> planned_skips_;  // not state; by adopted_at
  ModelRank model_;
  LossScaler scaler_;
  SpikeDetector spikes_;
  Schedule schedule_;
  StepSamples last_samples_;
  std::function<void(int64_t, int64_t)> watch_;
  std::function<void(StepPart)> watch_parts_;
  Prefetcher prefetcher_;  // reads what stands above: the first to go
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEPPER_H_
