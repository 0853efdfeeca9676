// The MLP mixer: y = down(relu(up(h))^2).
#include "model/kernels/squared_relu/squared_relu.h"
#include "model/linear.h"
#include "model/mixer.h"
#include "model/observe.h"

namespace lockstep {
namespace {

struct MlpSaved : MixerSaved {
  MlpSaved(Tensor pre, Tensor act)
      : pre_RF(std::move(pre)), act_RF(std::move(act)) {}
  Tensor pre_RF;  // up_proj's output
  Tensor act_RF;  // relu(pre)^2
};

class Mlp : public Mixer {
 public:
  Mlp(int64_t layer, ParameterStore& store, const TensorShare& share)
      : scope_(MixerScope(layer)),
        up_(WeightOf(MixerParameter(store, layer, "up_proj.weight"), share)),
        down_(WeightOf(MixerParameter(store, layer, "down_proj.weight"),
                       share)) {}

  std::unique_ptr<MixerSaved> Forward(const StepContext& context,
                                      const Tensor& h_RD,
                                      Tensor& y_RD) override {
    Device& device = context.device;
    const int64_t rows = context.rows();
    Tensor pre = Tensor::Uninit(device, up_.dtype, {rows, up_.out});
    Tensor act = Tensor::Uninit(device, up_.dtype, {rows, up_.out});
    LinearForward(context, {scope_, "up_proj"}, up_, h_RD.raw(), pre.raw());
    SquaredReluForward(device, {.rows = rows,
                                .d = up_.out,
                                .dtype = up_.dtype,
                                .x = pre.raw(),
                                .x_row_stride = up_.out,
                                .y = act.raw(),
                                .y_row_stride = up_.out});
    Observe(context, {scope_, "squared_relu"},
            {Cut(Ref("x", pre), 1, up_.held)},
            {Cut(Ref("y", act), 1, up_.held)});
    LinearForward(context, {scope_, "down_proj"}, down_, act.raw(), y_RD.raw());
    return std::make_unique<MlpSaved>(std::move(pre), std::move(act));
  }

  void Backward(const StepContext& context, const Tensor& h_RD,
                const MixerSaved& saved_base, const Tensor& dy_RD,
                Tensor& dh_RD) override {
    const auto& saved = static_cast<const MlpSaved&>(saved_base);
    Device& device = context.device;
    const int64_t rows = context.rows();
    Tensor dact = Tensor::Uninit(device, up_.dtype, {rows, up_.out});
    Tensor dpre = Tensor::Uninit(device, up_.dtype, {rows, up_.out});
    LinearBackward(context, {scope_, "down_proj"}, down_, saved.act_RF.raw(),
                   dy_RD.raw(), dact.raw());
    SquaredReluBackward(device, {.rows = rows,
                                 .d = up_.out,
                                 .dtype = up_.dtype,
                                 .dy = dact.raw(),
                                 .dy_row_stride = up_.out,
                                 .x = saved.pre_RF.raw(),
                                 .x_row_stride = up_.out,
                                 .dx = dpre.raw(),
                                 .dx_row_stride = up_.out});
    Observe(context, {scope_, "squared_relu"},
            {Cut(Ref("dy", dact), 1, up_.held),
             Cut(Ref("x", saved.pre_RF), 1, up_.held)},
            {Cut(Ref("dx", dpre), 1, up_.held)});
    LinearBackward(context, {scope_, "up_proj"}, up_, h_RD.raw(), dpre.raw(),
                   dh_RD.raw());
  }

 private:
  std::string scope_;
  LinearWeight up_;
  LinearWeight down_;
};

}  // namespace

std::unique_ptr<Mixer> MakeMlp(int64_t layer, ParameterStore& store,
                               const TensorShare& share) {
  return std::make_unique<Mlp>(layer, store, share);
}

std::string MixerScope(int64_t layer) {
  return "layers." + std::to_string(layer) + ".mixer";
}

Parameter& MixerParameter(ParameterStore& store, int64_t layer,
                          std::string_view name) {
  return store.Get("backbone." + MixerScope(layer) + "." + std::string(name));
}

}  // namespace lockstep
