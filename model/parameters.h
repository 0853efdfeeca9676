// Every parameter of the model: one list that all who walk parameters walk.
//
// What it is: the names, shapes, dtypes, decay groups and initial values of
// the parameters (ParameterSpec), and the memory of those that this rank holds:
// fp32 masters, gradient sums and run-time weights (ParameterStore). What it is
// not: the optimizer's moments, any file format, or a sum over ranks.
// Why so: optimizer, checkpoint, fingerprint, export and norm walk the same
// list, so none can forget a tensor. The masters are the only source of truth;
// run-time weights come from them by one conversion (N10). Parameters lie
// back to back in an arena in list order, so q, k and v form one fused
// projection without a copy. A rank holds the layers of its stages, of each
// tensor its share of the tensor axis (split.h), and of that it owns some rows
// (ZeRO-1): masters and final gradients are of the owned rows, sums and
// run-time weights of all that it holds.
#ifndef LOCKSTEP_MODEL_PARAMETERS_H_
#define LOCKSTEP_MODEL_PARAMETERS_H_

#include <cstdint>
#include <functional>
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
#include "parallel/stage_balance.h"
#include "parallel/state_sharding.h"

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
  // The layer it belongs to; -1: the embedding; the number of layers: what
  // comes after the last.
  int64_t layer = -1;
  bool token_sliced = false;  // has a leaf for each token slice (N4)

  int64_t count() const;   // logical elements
  int64_t memory() const;  // elements in memory, padding included
};

// Parameters in their one order: embeddings, layers ascending, final norm,
// head. `storage` is the run-time dtype of matrices; vectors and convolution
// stay fp32 at run time.
std::vector<ParameterSpec> ListParameters(const ModelConfig& config,
                                          DType storage, int64_t tensor_grid);

// Of a master's entry in the state, behind the parameter's name; its run-time
// weight has the name alone.
inline constexpr char kMasterSuffix[] = ".master";

// Which part of the model a rank has. By default all of it.
struct StorePlacement {
  std::vector<StageRange> stages = {};  // layers of its stages; empty: all
  TensorShare tensor = {};
  int data_ranks = 1;  // rows are shared out among these
  int data_rank = 0;

  // `layers`: of the whole model.
  bool Holds(const ParameterSpec& spec, int64_t layers) const;
};

// One parameter's memory; pointers into the store's arenas, never null.
struct Parameter {
  ParameterSpec spec;
  std::vector<int64_t> shape = {};  // held here, without padding
  RowRange owned = {};              // rows of `shape`
  bool speaks = true;  // of equal copies on several tensor ranks, the first
  float* master = nullptr;    // of the owned rows, as `grad` is
  GradientSum gradient = {};  // what backward adds to: unnormalised
  float* grad = nullptr;      // the final gradient; in the fp32 sum's memory
  void* runtime = nullptr;    // the master itself where that is fp32 and whole

  int64_t count() const;  // elements held, without padding
  int64_t row_elements() const;
  int64_t owned_first() const { return owned.begin * row_elements(); }
  int64_t owned_count() const { return owned.rows() * row_elements(); }
  void* owned_runtime() const;
  // What a layer reads of a vector or a convolution, whose run-time dtype is
  // always fp32.
  const float* runtime_f32() const;
  // Place of an owned element in the unsharded tensor.
  int64_t LogicalElement(int64_t owned_element, const TensorShare& share) const;
};

class ParameterStore : public Stateful {
 public:
  ParameterStore(StateRegistry& registry, Device& device,
                 std::vector<ParameterSpec> specs,
                 GradientMode mode = GradientMode::kLeafFp32,
                 const StorePlacement& placement = {});

  // Draws all masters from (seed, tensor, element) and converts them.
  void Initialise(uint64_t seed);
  // Rebuilds the owned rows of the run-time weights from the masters: N10's one
  // path. The other rows come from their owners.
  void ConvertAll();
  void ZeroGradients();

  // The parameter of that name; a missing name is a bug.
  Parameter& Get(std::string_view name);
  std::vector<Parameter>& all() { return parameters_; }
  const std::vector<Parameter>& all() const { return parameters_; }
  // The whole model's list, on every rank.
  const std::vector<ParameterSpec>& specs() const { return specs_; }
  const StorePlacement& placement() const { return placement_; }
  const StateSharding& sharding() const { return sharding_; }  // of all()
  GradientMode mode() const { return mode_; }
  int64_t count() const;  // logical elements of the whole model
  int64_t master_elements() const { return masters_.count(); }

  // Visits `<name><suffix>` for every parameter of the model: the owned rows of
  // those that are here, and no rows of the others, so that all ranks have one
  // list. `data` is where a parameter's owned rows begin.
  void VisitRows(StateVisitor& visitor, const std::string& suffix,
                 StateGroup group,
                 const std::function<void*(const Parameter&)>& data);

  // Masters are state; run-time weights are visited as kRuntime, for
  // fingerprints only.
  void VisitState(StateVisitor& visitor) override;

 private:
  void Allocate();

  Device& device_;
  const GradientMode mode_;
  const StorePlacement placement_;
  const std::vector<ParameterSpec> specs_;
  std::vector<Parameter> parameters_;
  StateSharding sharding_;
  std::vector<GridStats> stats_;  // one a parameter
  Tensor masters_;
  Tensor sums_;   // fp32, or int64 in kGrid
  Tensor final_;  // final gradients that have no fp32 sum to lie in
  Tensor low_;    // run-time weights of the storage dtype; empty in fp32
  Tensor f32_;    // those in fp32 that are not the masters
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PARAMETERS_H_
