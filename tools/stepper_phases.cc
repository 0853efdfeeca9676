// The phases of a step that compute: forward and backward, the loss.
#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/step_fingerprint.h"
#include "tools/stepper.h"

namespace lockstep {

StepContext Stepper::Context(const Work& work, int64_t micro_batch) const {
  const auto micro = static_cast<size_t>(config_.batch.micro);
  return {.device = const_cast<Device&>(device_),
          .hooks = const_cast<OperationHooks&>(hooks_),
          .seed = state_.seed,
          .step = static_cast<int64_t>(state_.iterations) + 1,
          .micro_batch = micro_batch,
          .sample_ids =
              std::span(work.samples)
                  .subspan(static_cast<size_t>(micro_batch) * micro, micro),
          .samples = config_.batch.micro,
          .tokens = config_.data.sequence,
          .samples_per_leaf = config_.grid.leaf,
          .loss_scale = scaler_.scale()};
}

absl::Status Stepper::ForwardBackward(Work& work) {
  const int64_t micro = config_.batch.micro, tokens = config_.data.sequence;
  std::vector<int32_t> ids(static_cast<size_t>(micro * tokens));
  std::vector<int32_t> labels(ids.size());
  store_.ZeroGradients();
  for (int64_t m = 0; m < BatchSize() / micro; ++m) {
    const int64_t first = m * micro;
    SplitInputsAndLabels(work.tokens_ST1.data() + first * (tokens + 1), micro,
                         tokens, ids.data(), labels.data());
    const MicroBatch batch = {
        ids.data(), {labels.data(), work.mask_ST.data() + first * tokens}};
    StepContext context = Context(work, m);
    if (!work.segments_ST.empty()) {
      context.segments = work.segments_ST.data() + first * tokens;
    }
    const Tensor loss = stage_.TrainMicroBatch(context, batch);
    std::copy_n(loss.data<float>(), loss.count(),
                work.losses_ST.data() + first * tokens);
    if (faults_ != nullptr) LS_RETURN_IF_ERROR(faults_->AtPoint("micro.end"));
  }
  return absl::OkStatus();
}

// Sums of losses and of valid tokens travel as integers (N6).
absl::Status Stepper::ReduceLoss(Work& work) {
  for (const float loss : work.losses_ST) work.loss_sum.Add(loss);
  auto words = work.loss_sum.Words();
  LS_RETURN_IF_ERROR(communicator_->AllReduceSum(words));
  LS_RETURN_IF_ERROR(
      communicator_->AllReduceSum(std::span(&work.report.valid_tokens, 1)));
  work.loss_sum = ExactSum::FromWords(words);
  StepReport& report = work.report;
  report.loss_scale = scaler_.scale();
  if (report.valid_tokens == 0) {
    return InputError(
        "no token of this step has a label that counts",
        absl::StrCat("step ", report.step, ", samples ", report.sample_first,
                     " to ", report.sample_last),
        "check the data's masks");
  }
  work.divisor = static_cast<double>(report.valid_tokens) * report.loss_scale;
  report.loss =
      work.loss_sum.Round() / static_cast<double>(report.valid_tokens);
  report.lm_loss = report.loss;
  return absl::OkStatus();
}

}  // namespace lockstep
