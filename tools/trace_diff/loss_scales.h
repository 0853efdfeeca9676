// By what the losses of two traces were scaled before backward.
//
// What it is: of each step the power of two by which the gradient of the loss
// is larger in one trace, where either has it in fp16. What it is not: what the
// scaler says, which no trace has. Why so: fp16 goes backward with gradients
// that are some thousand times the others', and that is no error of any
// operation; the scale goes out again before the reduction's gradients, which
// are compared as they are.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_LOSS_SCALES_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_LOSS_SCALES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/trace_diff/trace_pair.h"

namespace lockstep {

class LossScales {
 public:
  static LossScales Of(const TracePair& pair);

  bool empty() const { return scales_.empty(); }
  // "4096", or what there is: "4096 or 2048".
  std::string Text() const;

  // What the first tensor's elements are multiples of the second's by: the
  // scale for one that went backward, else 1. An operation of backward has
  // tensors of both kinds; the nearer of the two is taken.
  double Between(const OperationIdentity& identity, const TracedTensor& a,
                 const TracedTensor& b) const;

 private:
  void Take(const TracedOperation& a, const TracedOperation& b);

  // By step and attempt.
  std::map<std::pair<int64_t, int64_t>, double> scales_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_LOSS_SCALES_H_
