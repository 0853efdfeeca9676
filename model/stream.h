// The tokens of a residual stream that lie on several ranks.
//
// What it is: the gather before whatever needs whole samples: mixers, head,
// the embedding's gradient. What it is not: the sums that scatter tokens again
// (linear.h). Why so: with or without sequence parallelism a layer is one piece
// of code, and without it nothing is copied.

#ifndef LOCKSTEP_MODEL_STREAM_H_
#define LOCKSTEP_MODEL_STREAM_H_

#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// [rows, width] of what `stream` has [stream rows, width] of: `stream` itself,
// unless the tokens lie on several ranks; then they are gathered into `room`.
const Tensor& AllTokens(const StepContext& context, const Tensor& stream,
                        Tensor& room);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_STREAM_H_
