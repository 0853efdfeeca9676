#include "tools/saved_operation/layer_rerun.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/manifest.h"
#include "determinism/float_env.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "model/layer.h"
#include "model/model_layout.h"
#include "model/placement.h"
#include "tools/run_config.h"
#include "tools/saved_operation/kept.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

absl::Status Lacks(const std::string& what) {
  return InputError(absl::StrCat("the file lacks ", what),
                    "the saved operation", "run bisect again");
}

absl::StatusOr<RunConfig> ConfigOf(const SavedOperation& o) {
  Manifest manifest;
  manifest.recipe.text = o.recipe;
  LS_ASSIGN_OR_RETURN(RunConfig config,
                      ConfigOfManifest(manifest, "the saved operation"));
  config.model.vocab = o.vocab;
  return config;
}

class LayerRerun {
 public:
  LayerRerun(const SavedOperation& operation, const RunConfig& config,
             int64_t layer, Isa isa, int threads)
      : operation_(operation),
        config_(config),
        device_(threads, isa),
        axis_(AxisOptions(config.model, config.guarantee, config.grid.tensor, 1,
                          false)
                  .slices),
        store_(registry_, device_,
               ListParameters(config.model, config.precision.storage(),
                              VocabularyCuts(config.grid.tensor, 1)),
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
          static_cast<int64_t>(saved.bytes.size()) !=
              found->count() *
                  static_cast<int64_t>(SizeOf(found->spec.runtime_dtype))) {
        return Lacks("a parameter as this program has it: " + saved.name);
      }
      std::memcpy(found->runtime, saved.bytes.data(), saved.bytes.size());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Stream(const std::string& name) {
    const KeptTensor* saved = FindKept(operation_.layer, name);
    if (saved == nullptr) return Lacks("layer." + name);
    Tensor tensor = Tensor::Uninit(device_, saved->dtype, saved->shape);
    if (tensor.bytes() != saved->bytes.size()) return Lacks("layer." + name);
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

  absl::Status ForwardBackward() {
    const bool recompute = operation_.identity.phase == "recompute";
    const bool backward =
        recompute || operation_.identity.phase == NameOf(Phase::kBackward);
    LS_ASSIGN_OR_RETURN(Tensor x, Stream("x"));
    const StepContext context = Context();
    LayerSaved saved;
    layer_.Forward(context, std::move(x), &saved, !recompute);
    if (!backward) return absl::OkStatus();
    LS_ASSIGN_OR_RETURN(Tensor gradient, Stream("gradient"));
    layer_.Backward(context.In(Phase::kBackward), std::move(saved),
                    std::move(gradient));
    return absl::OkStatus();
  }

  const SavedOperation& operation_;
  const RunConfig& config_;
  Device device_;
  OperationHooks hooks_;
  StateRegistry registry_;
  TensorAxis axis_;
  ParameterStore store_;
  Layer layer_;
  OperationKeeper keeper_;
};

}  // namespace

absl::StatusOr<OperationRerun> RerunOperation(const SavedOperation& operation,
                                              Isa isa, int threads) {
  if (!operation.not_alone.empty()) {
    return InputError(absl::StrCat("this operation cannot be done by itself: ",
                                   operation.not_alone),
                      ToString(operation.identity),
                      "replay its step, with --trace");
  }
  const int64_t layer = LayerOfScope(operation.identity.scope);
  LS_ASSIGN_OR_RETURN(const RunConfig config, ConfigOf(operation));
  if (layer < 0 ||
      layer >= static_cast<int64_t>(config.model.Layers().size())) {
    return Lacks("a layer of the recipe's model");
  }
  const ScopedFloatEnv float_env;
  return LayerRerun(operation, config, layer, isa, threads).Run();
}

}  // namespace lockstep
