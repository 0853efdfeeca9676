// Every parameter of the model: one list that all who walk parameters walk.
//
// What it is: the names, shapes, dtypes, decay groups and initial values of
// the parameters (ParameterSpec), and their memory: fp32 masters, fp32
// gradient sums and run-time weights (ParameterStore). What it is not: the
// optimizer's moments, or any file format.
// Why so: optimizer, checkpoint, fingerprint, export and norm walk the same
// list, so none can forget a tensor. The masters are the only source of truth;
// run-time weights come from them by one conversion (N10). Parameters lie
// back to back in an arena in list order, so q, k and v form one fused
// projection without a copy.
#ifndef LOCKSTEP_MODEL_PARAMETERS_H_
#define LOCKSTEP_MODEL_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/state.h"
#include "model/config.h"
#include "model/device.h"
#include "model/gradient_sum.h"
#include "model/split.h"
#include "model/tensor.h"

namespace lockstep {

// How an initial value is drawn from its position (N9, stream kInit).
enum class InitKind { kNormal, kOne, kUniform, kLogUniformA, kDtBias };

struct InitSpec {
  InitKind kind = InitKind::kOne;
  double scale = 1.0;  // deviation of kNormal, half width of kUniform
};

struct ParameterSpec {
  std::string name = {};            // "backbone.layers.3.mixer.in_proj.weight"
  std::vector<int64_t> shape = {};  // logical: unsharded and unpadded
  int64_t padded_rows = 0;          // rows in memory, >= shape[0]; 0: as shape
  DType runtime_dtype = DType::kF32;
  bool decay = false;  // weight decay applies (matrices only)
  InitSpec init = {};
  TensorSplit split = {};  // how tensor ranks share it
  int index = 0;           // place in the list; the item of N9's position

  int64_t count() const;   // logical elements
  int64_t memory() const;  // elements in memory, padding included
};

// Parameters in their one order: embeddings, layers ascending, final norm,
// head. `storage` is the run-time dtype of matrices; vectors and convolution
// stay fp32 at run time.
std::vector<ParameterSpec> ListParameters(const ModelConfig& config,
                                          DType storage, int64_t tensor_grid);

// One parameter's memory; pointers into the store's arenas, never null.
struct Parameter {
  ParameterSpec spec;
  float* master = nullptr;
  GradientSum gradient = {};  // what backward adds to: unnormalised
  float* grad = nullptr;      // the final gradient; the fp32 sum's own memory
  void* runtime = nullptr;    // the master itself where the dtype is fp32

  // What a layer reads of a vector or a convolution, whose run-time dtype is
  // always fp32.
  const float* runtime_f32() const;
};

class ParameterStore : public Stateful {
 public:
  ParameterStore(StateRegistry& registry, Device& device,
                 std::vector<ParameterSpec> specs,
                 GradientMode mode = GradientMode::kLeafFp32);

  // Draws all masters from (seed, tensor, element) and converts them.
  void Initialise(uint64_t seed);
  // Rebuilds the run-time weights from the masters: N10's one path.
  void ConvertAll();
  void ZeroGradients();

  // The parameter of that name; a missing name is a bug.
  Parameter& Get(std::string_view name);
  std::vector<Parameter>& all() { return parameters_; }
  const std::vector<Parameter>& all() const { return parameters_; }
  int64_t count() const;  // logical elements of all parameters

  // Masters are state; run-time weights are visited as kRuntime, for
  // fingerprints only.
  void VisitState(StateVisitor& visitor) override;

 private:
  Device& device_;
  Tensor masters_;
  Tensor gradients_;
  Tensor grid_;                   // the integer sums of kGrid
  std::vector<GridStats> stats_;  // one a parameter
  Tensor runtime_;                // the low-precision matrices; empty in fp32
  std::vector<Parameter> parameters_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PARAMETERS_H_
