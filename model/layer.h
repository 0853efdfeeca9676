// One residual layer: x + dropout(mixer(norm(x))), forward and backward.
//
// What it is: the pre-norm, the mixer and the residual add of one entry of the
// pattern. What it is not: the choice of what to keep: with recomputation only
// x is kept and forward runs again before backward, which draws the same
// random numbers since they belong to positions (N9), so the bits agree (N12).
// With sequence parallelism the stream, the norm and the residual add are of
// the rank's token slice, and the mixer gets the gathered tokens.
// Why so: this is the whole skeleton of the model (MODEL 2.1).
#ifndef LOCKSTEP_MODEL_LAYER_H_
#define LOCKSTEP_MODEL_LAYER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/config.h"
#include "model/mixer.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// What a layer keeps of one micro-batch. After a forward without keeping,
// only x_RD is there.
struct LayerSaved {
  std::optional<Tensor> x_RD;     // the residual stream at the layer's start
  std::optional<Tensor> h_RD;     // the norm's output
  std::optional<Tensor> rstd_R1;  // of the norm, fp32
  std::unique_ptr<MixerSaved> mixer;
};

class Layer {
 public:
  Layer(const ModelConfig& config, int64_t index, ParameterStore& store,
        const TensorShare& share);

  // Takes the residual stream and returns the next. With `saved` null nothing
  // is kept (evaluation); with `keep_activations` false only x is.
  Tensor Forward(const StepContext& context, Tensor x_RD, LayerSaved* saved,
                 bool keep_activations);

  // Takes the gradient of the output, returns that of x. Recomputes what was
  // not kept.
  Tensor Backward(const StepContext& context, LayerSaved saved, Tensor dres_RD);

 private:
  // Norm and mixer: fills all of `saved` but x and returns the mixer's output.
  Tensor NormAndMix(const StepContext& context, const Tensor& x_RD,
                    LayerSaved& saved);
  void MixerBackward(const StepContext& context, const LayerSaved& saved,
                     const Tensor& dy_RD, Tensor& dh_RD);

  ModelConfig config_;
  int64_t index_;
  std::string scope_;  // "layers.3"
  Parameter& norm_;
  std::unique_ptr<Mixer> mixer_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LAYER_H_
