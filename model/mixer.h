// A mixer: what stands between a layer's norm and its residual add.
//
// What it is: the interface of Mamba-2, attention and MLP, and the makers of
// each. What it is not: the pre-norm, dropout or residual (layer.h).
// Why so: all that a backward pass needs is returned by the forward pass and
// owned by the caller, one object a micro-batch, so a pipeline may hold several
// in flight and recomputation is simply another forward.
#ifndef LOCKSTEP_MODEL_MIXER_H_
#define LOCKSTEP_MODEL_MIXER_H_

#include <memory>
#include <string>

#include "model/config.h"
#include "model/parameters.h"
#include "model/split.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// What one forward pass keeps; each mixer has its own kind.
class MixerSaved {
 public:
  virtual ~MixerSaved() = default;
};

class Mixer {
 public:
  virtual ~Mixer() = default;
  // h_RD: [samples * tokens, hidden] in storage dtype. y_RD, a residual stream
  // [stream rows, hidden], is written.
  virtual std::unique_ptr<MixerSaved> Forward(const StepContext& context,
                                              const Tensor& h_RD,
                                              Tensor& y_RD) = 0;
  // Writes dh_RD, a residual stream, and adds this micro-batch's leaves to the
  // gradients. h_RD and dy_RD have all tokens.
  virtual void Backward(const StepContext& context, const Tensor& h_RD,
                        const MixerSaved& saved, const Tensor& dy_RD,
                        Tensor& dh_RD) = 0;
};

// `layer` is the index in the pattern; parameters are looked up by name.
// `config` is the whole model's, `share` what the store's rank has of it: whole
// heads and groups, so that all between two projections is the rank's own.
std::unique_ptr<Mixer> MakeMamba2(const ModelConfig& config, int64_t layer,
                                  ParameterStore& store,
                                  const TensorShare& share = {});
std::unique_ptr<Mixer> MakeAttention(const ModelConfig& config, int64_t layer,
                                     ParameterStore& store,
                                     const TensorShare& share = {});
std::unique_ptr<Mixer> MakeMlp(int64_t layer, ParameterStore& store,
                               const TensorShare& share = {});

// "layers.3.mixer", and the name of one of its parameters.
std::string MixerScope(int64_t layer);
Parameter& MixerParameter(ParameterStore& store, int64_t layer,
                          std::string_view name);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_MIXER_H_
