// A tensor as a record of a trace has it. Private to the trace writer.
#ifndef DETERMINISM_TRACE_TENSOR_H_
#define DETERMINISM_TRACE_TENSOR_H_

#include "determinism/operation.h"
#include "determinism/trace.pb.h"
#include "determinism/trace_writer.h"

namespace lockstep::trace_internal {

// Name, type, shapes, what is held, fingerprint, and of the values what
// the options ask for.
void Fill(trace::Tensor& out, const TensorRef& tensor,
          const TraceOptions& options);

}  // namespace lockstep::trace_internal

#endif  // DETERMINISM_TRACE_TENSOR_H_
