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

std::optional<Producer> ProducerOf(
    const std::vector<TracedOperation>& operations, size_t place,
    const TracedTensor& input) {
  for (size_t i = place; i-- > 0;) {
    const std::vector<TracedTensor>& outputs = operations[i].outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].value == input.value && outputs[k].dtype == input.dtype &&
          outputs[k].count() == input.count()) {
        return Producer{i, k};
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
