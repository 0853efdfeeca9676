// Copies of tensors that an operation announces.
#ifndef LOCKSTEP_TOOLS_SAVED_OPERATION_KEPT_H_
#define LOCKSTEP_TOOLS_SAVED_OPERATION_KEPT_H_

#include <utility>
#include <vector>

#include "determinism/operation.h"
#include "tools/bisect/element_difference.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

// Contiguous, of what is here.
KeptTensor KeptOf(const TensorRef& tensor);

// Waits for one operation and copies what it shows; the first time it comes.
class OperationKeeper : public OperationObserver {
 public:
  explicit OperationKeeper(OperationIdentity wanted)
      : wanted_(std::move(wanted)) {}

  void OnOperation(const OperationEvent& event) override;

  bool found() const { return found_; }
  int64_t micro_batch() const { return micro_batch_; }
  const std::vector<uint64_t>& samples() const { return samples_; }
  std::vector<KeptTensor> TakeInputs() { return std::move(inputs_); }
  std::vector<KeptTensor> TakeOutputs() { return std::move(outputs_); }

 private:
  const OperationIdentity wanted_;
  int64_t seen_ = 0;
  bool found_ = false;
  int64_t micro_batch_ = 0;
  std::vector<uint64_t> samples_;
  std::vector<KeptTensor> inputs_, outputs_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SAVED_OPERATION_KEPT_H_
