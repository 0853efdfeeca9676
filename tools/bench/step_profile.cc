#include "tools/bench/step_profile.h"

#include <algorithm>
#include <span>

#include "absl/strings/match.h"

namespace lockstep {

const char* NameOf(StepKind kind) {
  static constexpr const char* kNames[kStepKinds] = {
      "product", "scan",          "attention", "norm",
      "conv",    "cross-entropy", "optimizer", "other"};
  return kNames[static_cast<int>(kind)];
}

StepKind KindOf(std::string_view operation) {
  const absl::string_view name(operation.data(), operation.size());
  if (absl::EndsWith(name, "_proj") || name == "logits") {
    return StepKind::kProduct;
  }
  if (name == "ssd_scan") return StepKind::kScan;
  if (name == "attention") return StepKind::kAttention;
  if (name == "norm") return StepKind::kNorm;
  if (name == "conv1d") return StepKind::kConv;
  if (name == "loss") return StepKind::kCrossEntropy;
  if (name == "gradient" || name == "adamw") return StepKind::kOptimizer;
  return StepKind::kOther;
}

namespace {

double BytesOf(std::span<const TensorRef> tensors) {
  double bytes = 0;
  for (const TensorRef& tensor : tensors) {
    double elements = 1;
    for (const int64_t dim : tensor.shape) elements *= static_cast<double>(dim);
    bytes += elements * static_cast<double>(SizeOf(tensor.dtype));
  }
  return bytes;
}

}  // namespace

double StepProfile::Lap() {
  const int64_t now = clock_.MonotonicNanos();
  const double seconds = static_cast<double>(now - last_ns_) * 1e-9;
  last_ns_ = now;
  return seconds;
}

void StepProfile::Begin() {
  times_ = {};
  last_flops_ = device_.flops();
  begin_ns_ = last_ns_ = tail_ns_ = clock_.MonotonicNanos();
}

void StepProfile::OnOperation(const OperationEvent& event) {
  const double seconds = Lap();
  times_.by_phase[static_cast<int>(event.phase)] += seconds;
  const int kind = static_cast<int>(KindOf(event.operation));
  times_.by_kind[kind] += seconds;
  KindWork& work = times_.work[kind][static_cast<int>(event.phase)];
  work.seconds += seconds;
  work.flops += static_cast<double>(device_.flops() - last_flops_);
  work.bytes += BytesOf(event.inputs) + BytesOf(event.outputs);
  last_flops_ = device_.flops();
  if (event.phase == Phase::kForward && event.scope != "lm_head") {
    times_.kept_bytes = std::max(times_.kept_bytes, device_.bytes_in_use());
  }
}

void StepProfile::Ended(StepPart part) {
  if (part == StepPart::kGradients) tail_ns_ = clock_.MonotonicNanos();
}

StepTimes StepProfile::End() {
  times_.after = Lap();
  times_.by_kind[static_cast<int>(StepKind::kOther)] += times_.after;
  times_.seconds = static_cast<double>(last_ns_ - begin_ns_) * 1e-9;
  times_.tail = static_cast<double>(last_ns_ - tail_ns_) * 1e-9;
  return times_;
}

}  // namespace lockstep
