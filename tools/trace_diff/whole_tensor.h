// A tensor of the parts that ranks have of it. Private to the whole trace.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TENSOR_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TENSOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

class TensorParts {
 public:
  // Of the tensor of this place in the operation; borrowed.
  void Add(const TracedTensor& part);

  const TracedTensor& first() const { return *first_; }
  // Its fingerprint is the sum of its parts'. With all elements where every
  // part has them and copies are equal. Nothing if parts are missing.
  std::optional<TracedTensor> Whole() const;

 private:
  std::optional<TracedValues> Contents() const;

  const TracedTensor* first_ = nullptr;
  std::map<std::vector<std::vector<int64_t>>, const TracedTensor*> held_;
  int64_t covered_ = 0;
  Fingerprint disagreement_;  // of copies of a part that are not equal
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TENSOR_H_
