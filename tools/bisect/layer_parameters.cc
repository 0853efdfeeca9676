#include "tools/bisect/layer_parameters.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

bool TakeRows(const StateTensor& t, KeptTensor& whole) {
  if (t.box_shape.empty() || t.box_shape[0] == 0) return true;
  auto row = static_cast<int64_t>(SizeOf(t.dtype));
  for (size_t dim = 1; dim < t.global_shape.size(); ++dim) {
    if (t.box_shape[dim] != t.global_shape[dim]) return false;
    row *= t.global_shape[dim];
  }
  std::memcpy(whole.bytes.data() + t.box_start[0] * row, t.data,
              static_cast<size_t>(t.box_shape[0] * row));
  return true;
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
  if (!TakeRows(t, Whole(name, t))) cut = true;
}

}  // namespace lockstep
