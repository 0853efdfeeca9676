// One training step as named phases, and all that it works on.
//
// What it is: the one class that train, replay and bisect step with: it owns
// device, state, model, optimizer and data, and moves them by one step. What it
// is not: a loop, a run folder or a policy: when to save, evaluate or stop is
// decided elsewhere. Why so: whoever replays a run must run the same code, and
// state moves in one place only, after everything that can refuse the step.
#ifndef LOCKSTEP_TOOLS_STEPPER_H_
#define LOCKSTEP_TOOLS_STEPPER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/data_fingerprint.h"
#include "data/dataset.h"
#include "data/prefetch.h"
#include "determinism/exact_sum.h"
#include "determinism/fault.h"
#include "determinism/operation.h"
#include "determinism/state.h"
#include "model/device.h"
#include "model/loss_scaler.h"
#include "model/optimizer.h"
#include "model/parameters.h"
#include "model/schedule.h"
#include "model/stage.h"
#include "parallel/communicator.h"
#include "tools/run_config.h"
#include "tools/run_state.h"
#include "tools/skip_list.h"
#include "tools/spike_detector.h"
#include "tools/step_report.h"

namespace lockstep {

struct StepperOptions {
  int threads = 1;
  Isa isa = Isa::kScalar;
  int64_t schedule_length_samples = 0;
};

// What the last step was made of, sample after sample in ascending order.
struct StepSamples {
  std::vector<uint64_t> ids;        // global indices
  std::vector<int32_t> tokens_ST1;  // samples x (tokens + 1)
  std::vector<uint8_t> mask_ST;     // 1 where the label counts
  std::vector<float> losses_ST;     // nats; 0 where the label does not count
};

class Stepper {
 public:
  // All pointers are borrowed and outlive the stepper; `faults` may be null.
  Stepper(const RunConfig& config, const StepperOptions& options,
          const Dataset* dataset, Communicator* communicator,
          FaultPlan* faults);

  // Draws initial weights: a fresh start. A resume loads instead, then calls
  // RestoreRuntime (N10).
  void Initialise() { store_.Initialise(state_.seed); }
  void RestoreRuntime() { store_.ConvertAll(); }
  // Of a fork, whose recipe's seed counts and not its parent's.
  void TakeSeed() { state_.seed = config_.seed; }

  // The next step. Non-finite losses or gradients skip the update where the
  // loss scale may be to blame (fp16 above its smallest scale); otherwise they
  // are a NumericFailure (exit 5), which names step, tensor and samples and
  // leaves every registered state as it was. A spike does what `spike.action`
  // says, likewise.
  absl::StatusOr<StepReport> Step();

  // Of the last Step(), also of one that failed once its losses were there.
  const StepSamples& last_samples() const { return last_samples_; }

  // The run's adoptions, as its ledger has them: those that the restored state
  // lacks are adopted once the cursor is there, so that a run that went back
  // meets them where it did.
  absl::Status PlanSkips(std::vector<SkipRange> recorded);
  // What is read from here on, planned adoptions included.
  absl::StatusOr<SampleStream> stream() const;
  // For a person: where the samples of the rest of the run come from.
  absl::StatusOr<std::string> DescribeDraws() const;

  // Adds a tracer behind the fault injector.
  void AddObserver(OperationObserver* observer) { hooks_.Add(observer); }

  StateRegistry& registry() { return registry_; }
  Device& device() { return device_; }
  Stage& stage() { return stage_; }
  const RunState& state() const { return state_; }
  const SkipList& skip_list() const { return skip_list_; }
  const RunConfig& config() const { return config_; }
  const Dataset& dataset() const { return *dataset_; }
  int64_t parameter_count() const { return store_.count(); }

 private:
  // What the phases of one step hand to each other.
  struct Work {
    StepReport report;
    std::vector<uint64_t> samples;    // global indices, ascending
    std::vector<int32_t> tokens_ST1;  // samples x (tokens + 1)
    std::vector<uint8_t> mask_ST;
    std::vector<int32_t> segments_ST;  // empty: no document resets
    std::vector<float> losses_ST;
    ExactSum loss_sum;
    double divisor = 0;  // valid tokens times the loss scale
  };

  // Samples of the step at hand, until its counters move.
  int64_t BatchSize() const {
    return config_.batches.At(static_cast<int64_t>(state_.samples_seen));
  }
  StepContext Context(const Work& work, int64_t micro_batch) const;
  absl::StatusOr<StepReport> TakeStep(Work& work);
  void KeepSamples(Work& work);
  void AdoptDueSkips();
  bool ReadsAhead() const;
  PrefetchOptions Prefetching() const;
  absl::StatusOr<std::vector<std::vector<uint64_t>>> NextBatches() const;
  absl::Status LoadSamples(Work& work);
  absl::Status ForwardBackward(Work& work);
  absl::Status ReduceLoss(Work& work);
  absl::Status CheckLosses(const Work& work) const;
  absl::Status FinishGradients(Work& work);
  absl::Status CheckGradients(const Work& work) const;
  bool MaySkip(const absl::Status& finite) const;
  absl::Status JudgeSpike(StepReport& report) const;
  void UpdateParameters(Work& work);
  void AdvanceState(Work& work);
  void FingerprintInputs(Work& work);
  void FingerprintState(Work& work);

  const RunConfig config_;
  const Dataset* dataset_;
  Communicator* communicator_;
  FaultPlan* faults_;
  OperationHooks hooks_;
  Device device_;
  StateRegistry registry_;
  RunState state_;
  SkipList skip_list_;
  std::vector<SkipRange> planned_skips_;  // not state; by adopted_at
  ParameterStore store_;
  Optimizer optimizer_;
  LossScaler scaler_;
  SpikeDetector spikes_;
  Stage stage_;
  Schedule schedule_;
  StepSamples last_samples_;
  Prefetcher prefetcher_;  // reads what stands above: the first to go
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEPPER_H_
