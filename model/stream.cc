#include "model/stream.h"

namespace lockstep {

const Tensor& AllTokens(const StepContext& context, const Tensor& stream,
                        Tensor& room) {
  if (!context.sequence_parallel()) return stream;
  const int64_t d = stream.dim(1);
  room = Tensor::Uninit(context.device, stream.dtype(), {context.rows(), d});
  context.tensor->GatherTokens(context.device,
                               {context.samples, context.tokens, d},
                               stream.dtype(), stream.raw(), room.raw());
  return room;
}

}  // namespace lockstep
