// What tensor ranks say to each other over one micro-batch, by formula.
//
// What it is: calls and bytes of the tensor axis, stage by stage, counted as
// linear.cc, stream.cc, head.cc and attention.cc make them. What it is not:
// seconds, or what a transport makes of a call. Why so: as for memory
// (activation_memory.h); tests/plan/ counts the calls of real steps.
#ifndef LOCKSTEP_MODEL_TENSOR_TRAFFIC_H_
#define LOCKSTEP_MODEL_TENSOR_TRAFFIC_H_

#include <vector>

#include "model/cost_shape.h"
#include "parallel/stage_balance.h"

namespace lockstep {

// Of one rank. A message is a call of a collective, or one that is sent; its
// bytes are those of the rank's buffer, whatever a transport moves for them.
struct AxisTraffic {
  double messages = 0;
  double bytes = 0;

  AxisTraffic& operator+=(const AxisTraffic& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
  AxisTraffic Times(double n) const { return {n * messages, n * bytes}; }
};

// Forward and backward of one micro-batch through a stage of `layers`.
AxisTraffic TensorTraffic(const CostShape& shape,
                          const std::vector<LayerKind>& layers,
                          const StageRange& stage);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_TENSOR_TRAFFIC_H_
