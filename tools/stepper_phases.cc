// The phases of a step that compute: forward and backward, the loss.
#include <algorithm>
#include <cmath>
#include <span>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/step_fingerprint.h"
#include "tools/stepper.h"

namespace lockstep {

// The replica's micro-batches, in the order of their samples.
class Stepper::StepSource : public MicroBatchSource {
 public:
  StepSource(Stepper& stepper, Work& work)
      : stepper_(stepper),
        work_(work),
        micro_(stepper.config_.batch.micro),
        tokens_(stepper.config_.data.sequence),
        ids_(work.mask_ST.size()),
        labels_(work.mask_ST.size()) {
    SplitInputsAndLabels(work.tokens_ST1.data(),
                         static_cast<int64_t>(work.samples.size()), tokens_,
                         ids_.data(), labels_.data());
  }

  int64_t count() const override {
    return static_cast<int64_t>(work_.samples.size()) / micro_;
  }
  StepContext Context(int64_t m) override {
    StepContext context = stepper_.Context(work_, m);
    if (!work_.segments_ST.empty()) {
      context.segments = work_.segments_ST.data() + FirstToken(m);
    }
    return context;
  }
  MicroBatch Batch(int64_t m) override {
    const int64_t at = FirstToken(m);
    return {ids_.data() + at, {labels_.data() + at, work_.mask_ST.data() + at}};
  }
  void TakeLosses(int64_t m, const Tensor& loss) override {
    if (stepper_.layout().at.tensor != 0) return;
    std::copy_n(loss.data<float>(), loss.count(),
                work_.losses_ST.data() + FirstToken(m));
  }
  absl::Status Finished(int64_t m) override {
    LS_RETURN_IF_ERROR(stepper_.AtFaultPoint("micro.end"));
    if (stepper_.watch_) stepper_.watch_(m + 1, count());
    return absl::OkStatus();
  }

 private:
  int64_t FirstToken(int64_t m) const { return m * micro_ * tokens_; }

  Stepper& stepper_;
  Work& work_;
  const int64_t micro_, tokens_;
  std::vector<int32_t> ids_, labels_;
};

StepContext Stepper::Context(const Work& work, int64_t micro_batch) {
  return Context(work, micro_batch, hooks_);
}

StepContext Stepper::Context(const Work& work, int64_t micro_batch,
                             OperationHooks& hooks) {
  const auto micro = static_cast<size_t>(config_.batch.micro);
  const size_t first = static_cast<size_t>(micro_batch) * micro;
  StepContext context = {.device = device_,
                         .hooks = hooks,
                         .seed = state_.seed,
                         .step = static_cast<int64_t>(state_.iterations) + 1,
                         .attempt = work.report.attempt,
                         .micro_batch = micro_batch,
                         .samples = config_.batch.micro,
                         .tokens = config_.data.sequence,
                         .samples_per_leaf = config_.grid.leaf,
                         .loss_scale = scaler_.scale(),
                         .tensor = model_.axis()};
  // A replica without samples still takes part in what follows.
  if (first < work.samples.size()) {
    context.sample_ids = std::span(work.samples).subspan(first, micro);
  }
  if (faults_ != nullptr &&
      faults_->SlipsStream(micro_batch, context.sample_ids)) {
    ++context.seed;
  }
  return context;
}

absl::Status Stepper::BeginAttempt(Work& work, int attempt) {
  work.report.attempt = attempt;
  if (faults_ != nullptr && attempt > 0) {
    faults_->BeginStep(work.report.step, attempt);
  }
  return model_.BeginPass(!work.drops_sums);
}

// One pass; on the integer grid a second one where the exponents of the first
// did not do (N5). No state has moved in between, and the samples are still
// here.
absl::Status Stepper::ComputeGradients(Work& work) {
  constexpr int kMostPasses = 2;
  if (model_.grid() != nullptr) {
    model_.grid()->BeginStep(BatchSize() / config_.grid.leaf);
  }
  work.drops_sums = Drops("gradients.reduce_scatter");
  for (int attempt = 0; attempt < kMostPasses; ++attempt) {
    LS_RETURN_IF_ERROR(BeginAttempt(work, attempt));
    // A rank that fails here leaves, and the others learn of it from whatever
    // they wait for: asking all of them would wait for those that wait for it.
    LS_RETURN_IF_ERROR(ForwardBackward(work));
    LS_RETURN_IF_ERROR(ReduceLoss(work));
    LS_ASSIGN_OR_RETURN(const bool holds, PassHolds(work));
    if (holds) return absl::OkStatus();
  }
  return NumericFailure(
      "two passes over the same samples had different largest gradients",
      absl::StrCat("step ", work.report.step),
      "a pass is a function of its samples: run `lockstep train` again and "
      "look for faults of the machine");
}

// A pass that is not finite is for the checks that follow: it is skipped or
// stops the run, and is not made again.
absl::StatusOr<bool> Stepper::PassHolds(Work& work) {
  GradientGrid* grid = model_.grid();
  if (grid == nullptr) return true;
  LS_RETURN_IF_ERROR(grid->Collect(model_.store(), model_.layout()));
  if (!std::isfinite(work.report.loss) || grid->NonFinite()) return true;
  const GridVerdict verdict = grid->Judge(scaler_.scale());
  work.report.overflowed = grid->overflowed();
  work.report.below_grid = grid->BelowGrid();
  return verdict == GridVerdict::kDone;
}

absl::Status Stepper::ForwardBackward(Work& work) {
  StepSource source(*this, work);
  LS_RETURN_IF_ERROR(model_.pipeline().Train(
      source, [this](int64_t layer) { model_.reduction().LayerDone(layer); }));
  model_.reduction().EndPass();
  return absl::OkStatus();
}

// Sums of losses and of valid tokens travel as integers (N6).
absl::Status Stepper::ReduceLoss(Work& work) {
  StepReport& report = work.report;
  ExactSum losses;
  report.valid_tokens = 0;
  if (layout().counts_losses()) {
    for (const float loss : work.losses_ST) losses.Add(loss);
    for (const uint8_t valid : work.mask_ST) report.valid_tokens += valid;
  }
  LS_RETURN_IF_ERROR(AddOverRanks(world(), losses));
  LS_RETURN_IF_ERROR(AddOverRanks(world(), std::span(&report.valid_tokens, 1)));
  report.loss_scale = scaler_.scale();
  if (report.valid_tokens == 0) {
    return InputError(
        "no token of this step has a label that counts",
        absl::StrCat("step ", report.step, ", samples ", report.sample_first,
                     " to ", report.sample_last),
        config_.data.reset_at_documents
            ? "each of its tokens ends a document, and data.reset_at_documents "
              "masks the label behind that: give documents of more than one "
              "token, or set it to false"
            : "check the data's masks");
  }
  work.divisor = static_cast<double>(report.valid_tokens) * report.loss_scale;
  report.loss = losses.Round() / static_cast<double>(report.valid_tokens);
  report.lm_loss = report.loss;
  return absl::OkStatus();
}

}  // namespace lockstep
