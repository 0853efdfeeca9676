#include "tools/trace_diff/tensor_match.h"

#include <algorithm>

namespace lockstep {
namespace {

bool SameKind(const TracedTensor& a, const TracedTensor& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
         a.whole() == b.whole() && a.held == b.held;
}

}  // namespace

bool SameKinds(const std::vector<TracedTensor>& a,
               const std::vector<TracedTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameKind);
}

ptrdiff_t FirstDifferent(const std::vector<TracedTensor>& a,
                         const std::vector<TracedTensor>& b) {
  const auto at =
      std::mismatch(a.begin(), a.end(), b.begin(),
                    [](const TracedTensor& x, const TracedTensor& y) {
                      return x.value == y.value;
                    })
          .first;
  return at == a.end() ? -1 : at - a.begin();
}

std::optional<size_t> ProducerOf(const OperationList& operations, size_t place,
                                 const TracedTensor& input) {
  for (size_t i = place; i-- > 0;) {
    if (!operations.MayHave(i, input.value)) continue;
    for (const TracedTensor& output : operations.At(i).outputs) {
      if (output.value == input.value && output.dtype == input.dtype &&
          output.count() == input.count()) {
        return i;
      }
    }
  }
  return std::nullopt;
}

std::pair<TracedTensor, TracedTensor> FirstOfOtherKind(
    const TracedOperation& a, const TracedOperation& b) {
  for (const auto& [x, y] :
       {std::pair(&a.inputs, &b.inputs), std::pair(&a.outputs, &b.outputs)}) {
    for (size_t i = 0; i < std::max(x->size(), y->size()); ++i) {
      const TracedTensor left = i < x->size() ? (*x)[i] : TracedTensor{};
      const TracedTensor right = i < y->size() ? (*y)[i] : TracedTensor{};
      if (!SameKind(left, right)) return {left, right};
    }
  }
  return {};
}

}  // namespace lockstep
