#include "tools/saved_operation/rank_rerun.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "model/layer.h"
#include "model/parameter_boxes.h"
#include "model/placement.h"
#include "tools/saved_operation/kept.h"

namespace lockstep {
namespace {

// One tensor rank's part.
class LayerRerun {
 public:
  LayerRerun(const SavedOperation& operation, const RunConfig& config,
             int64_t layer, Device& device, TensorAxis& axis)
      : operation_(operation),
        config_(config),
        device_(device),
        axis_(axis),
        store_(registry_, device_,
               ListParameters(
                   config.model, config.precision.storage(),
                   VocabularyCuts(config.grid.tensor, axis.share().degree)),
               GradientMode::kLeafFp32,
               {.stages = {{layer, layer + 1}}, .tensor = axis_.share()}),
        layer_(config.model, layer, store_, axis_.share()),
        keeper_(operation.identity) {
    hooks_.Add(&keeper_);
  }

  absl::StatusOr<OperationRerun> Run() {
    LS_RETURN_IF_ERROR(TakeParameters());
    store_.ZeroGradients();
    LS_RETURN_IF_ERROR(ForwardBackward());
    if (!keeper_.found()) {
      return InputError("the layer does not announce the operation",
                        ToString(operation_.identity),
                        "use the program that made the runs");
    }
    OperationRerun rerun = {.inputs = keeper_.TakeInputs(), .outputs = {}};
    for (KeptTensor& tensor : keeper_.TakeOutputs()) {
      if (!tensor.name.ends_with("_sum")) {
        rerun.outputs.push_back(std::move(tensor));
      }
    }
    return rerun;
  }

 private:
  absl::Status TakeParameters() {
    for (const KeptTensor& saved : operation_.parameters) {
      Parameter* found = nullptr;
      for (Parameter& p : store_.all()) {
        if (p.spec.name == saved.name) found = &p;
      }
      if (found == nullptr || saved.dtype != found->spec.runtime_dtype ||
          saved.shape != found->spec.shape) {
        return Lacks("a parameter as this program has it: " + saved.name);
      }
      const auto width = static_cast<int64_t>(SizeOf(saved.dtype));
      for (const ParameterRun& run : RunsOf(*found, axis_.share())) {
        std::memcpy(static_cast<char*>(found->runtime) + run.owned * width,
                    saved.bytes.data() + run.logical * width,
                    static_cast<size_t>(run.count * width));
      }
    }
    for (const Parameter& p : store_.all()) {
      if (p.spec.layer == LayerOfScope(operation_.identity.scope) &&
          FindKept(operation_.parameters, p.spec.name) == nullptr) {
        return Lacks("parameter " + p.spec.name);
      }
    }
    return absl::OkStatus();
  }

  // A residual stream, or this rank's tokens of it.
  absl::StatusOr<Tensor> Stream(std::string name) {
    if (axis_.sequence_parallel()) {
      absl::StrAppend(&name, ".", axis_.share().index);
    }
    const KeptTensor* saved = FindKept(operation_.layer, name);
    const StepContext context = Context();
    if (saved == nullptr || saved->dtype != config_.precision.storage() ||
        saved->shape !=
            std::vector{context.stream_rows(), config_.model.hidden}) {
      return Lacks("layer." + name + " as this program has it");
    }
    Tensor tensor = Tensor::Uninit(device_, saved->dtype, saved->shape);
    std::memcpy(tensor.raw(), saved->bytes.data(), saved->bytes.size());
    return tensor;
  }

  StepContext Context() {
    const KeptTensor* segments = FindKept(operation_.layer, "segments");
    return {.device = device_,
            .hooks = hooks_,
            .seed = operation_.seed,
            .step = operation_.identity.step,
            .attempt = static_cast<int>(operation_.identity.attempt),
            .micro_batch = 0,
            .sample_ids = operation_.samples,
            .samples = static_cast<int64_t>(operation_.samples.size()),
            .tokens = config_.data.sequence,
            .samples_per_leaf = config_.grid.leaf,
            .segments = segments == nullptr ? nullptr
                                            : reinterpret_cast<const int32_t*>(
                                                  segments->bytes.data()),
            .tensor = &axis_};
  }

  absl::Status CheckSegments() {
    const KeptTensor* segments = FindKept(operation_.layer, "segments");
    if (segments == nullptr) return absl::OkStatus();
    const std::vector<int64_t> shape = {
        static_cast<int64_t>(operation_.samples.size()), config_.data.sequence};
    if (segments->dtype == DType::kI32 && segments->shape == shape) {
      return absl::OkStatus();
    }
    return Lacks("layer.segments as this program has it");
  }

  absl::Status ForwardBackward() {
    LS_RETURN_IF_ERROR(CheckSegments());
    const bool recompute = operation_.identity.phase == "recompute";
    const bool backward =
        recompute || operation_.identity.phase == NameOf(Phase::kBackward);
    LS_ASSIGN_OR_RETURN(Tensor x, Stream("x"));
    const StepContext context = Context();
    LayerSaved saved;
    layer_.Forward(context, std::move(x), &saved, !recompute);
    if (!backward) return axis_.status();
    LS_ASSIGN_OR_RETURN(Tensor gradient, Stream("gradient"));
    layer_.Backward(context.In(Phase::kBackward), std::move(saved),
                    std::move(gradient));
    return axis_.status();
  }

  const SavedOperation& operation_;
  const RunConfig& config_;
  Device& device_;
  TensorAxis& axis_;
  OperationHooks hooks_;
  StateRegistry registry_;
  ParameterStore store_;
  Layer layer_;
  OperationKeeper keeper_;
};

}  // namespace

absl::Status Lacks(const std::string& what) {
  return InputError(absl::StrCat("the file lacks ", what),
                    "the saved operation", "run bisect again");
}

absl::StatusOr<OperationRerun> RerunOnRank(const SavedOperation& operation,
                                           const RunConfig& config,
                                           int64_t layer, Device& device,
                                           TensorAxis& axis) {
  return LayerRerun(operation, config, layer, device, axis).Run();
}

}  // namespace lockstep
