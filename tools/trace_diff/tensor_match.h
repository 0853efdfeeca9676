// Which tensors of two operations are of one kind, equal, or one the other's.
// Private to the comparison of a rank.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TENSOR_MATCH_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TENSOR_MATCH_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tools/trace_diff/operation_list.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

// Names, types, shapes and what is held, one by one.
bool SameKinds(const std::vector<TracedTensor>& a,
               const std::vector<TracedTensor>& b);
// The first pair that is not of one kind, an empty tensor for one that is
// missing; inputs before outputs.
std::pair<TracedTensor, TracedTensor> FirstOfOtherKind(
    const TracedOperation& a, const TracedOperation& b);

// Index of the first that differs; -1: none. Of equal kinds.
ptrdiff_t FirstDifferent(const std::vector<TracedTensor>& a,
                         const std::vector<TracedTensor>& b);

// The latest operation before `place` with an output that is the input: the
// same bits of a tensor of the same kind, whatever its name was there.
std::optional<size_t> ProducerOf(const OperationList& operations, size_t place,
                                 const TracedTensor& input);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TENSOR_MATCH_H_
