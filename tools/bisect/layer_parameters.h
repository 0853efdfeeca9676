// The run-time weights of one layer, put together from what ranks own.
//
// What it is: a visitor of every rank's registry, in turns, that ends with
// whole tensors. What it is not: a share of them: whoever does the layer again
// cuts them as its ranks do. Why so: replicas own rows of a layer each, and
// tensor ranks rows or columns, and a file should not know who had what.
#ifndef LOCKSTEP_TOOLS_BISECT_LAYER_PARAMETERS_H_
#define LOCKSTEP_TOOLS_BISECT_LAYER_PARAMETERS_H_

#include <string>
#include <vector>

#include "determinism/state.h"
#include "tools/bisect/element_difference.h"

namespace lockstep {

class LayerParameters : public StateVisitor {
 public:
  explicit LayerParameters(int64_t layer);

  void Tensor(const StateTensor& t) override;
  void U64(const std::string&, StateGroup, uint64_t&) override {}
  void I64(const std::string&, StateGroup, int64_t&) override {}
  void F64(const std::string&, StateGroup, double&) override {}
  void Bytes(const std::string&, StateGroup, std::string&) override {}

  std::vector<KeptTensor> parameters;

 private:
  KeptTensor& Whole(const std::string& name, const StateTensor& t);

  const std::string prefix_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_LAYER_PARAMETERS_H_
