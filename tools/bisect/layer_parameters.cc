#include "tools/bisect/layer_parameters.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

// Rows, or columns of rows; what is behind these is never cut.
void TakeBox(const StateTensor& t, KeptTensor& whole) {
  if (t.box_shape.empty() || t.box_shape[0] == 0) return;
  const bool columns = t.global_shape.size() > 1;
  auto inner = static_cast<int64_t>(SizeOf(t.dtype));
  for (size_t dim = 2; dim < t.global_shape.size(); ++dim) {
    inner *= t.global_shape[dim];
  }
  const int64_t row = columns ? t.global_shape[1] * inner : inner;
  const int64_t held = columns ? t.box_shape[1] * inner : inner;
  const int64_t first = columns ? t.box_start[1] * inner : 0;
  for (int64_t i = 0; i < t.box_shape[0]; ++i) {
    std::memcpy(whole.bytes.data() + (t.box_start[0] + i) * row + first,
                static_cast<const char*>(t.data) + i * held,
                static_cast<size_t>(held));
  }
}

}  // namespace

LayerParameters::LayerParameters(int64_t layer)
    : prefix_(absl::StrCat("backbone.layers.", layer, ".")) {}

KeptTensor& LayerParameters::Whole(const std::string& name,
                                   const StateTensor& t) {
  for (KeptTensor& kept : parameters) {
    if (kept.name == name) return kept;
  }
  int64_t count = 1;
  for (const int64_t size : t.global_shape) count *= size;
  parameters.push_back({name, t.dtype, t.global_shape, {}});
  parameters.back().bytes.resize(static_cast<size_t>(count) * SizeOf(t.dtype));
  return parameters.back();
}

void LayerParameters::Tensor(const StateTensor& t) {
  const std::string name = t.name.substr(t.name.find('/') + 1);
  if (t.group != StateGroup::kRuntime || !name.starts_with(prefix_)) return;
  TakeBox(t, Whole(name, t));
}

}  // namespace lockstep
