#include "model/tensor_traffic.h"

#include <cmath>

#include "model/head_memory.h"

namespace lockstep {
namespace {

AxisTraffic Sum(const CostShape& s, double samples) {
  return {1, samples * s.tokens * s.hidden() * kFp32Bytes};
}

// Every token's row, where tokens lie on several ranks.
AxisTraffic Gather(const CostShape& s) {
  return s.sequence ? AxisTraffic{1, s.whole_stream()} : AxisTraffic{};
}

AxisTraffic OfLayer(const CostShape& s, LayerKind kind) {
  AxisTraffic forward = Gather(s);
  forward += Sum(s, s.samples);
  AxisTraffic traffic = forward.Times(s.recompute ? 2 : 1);
  traffic += Gather(s).Times(2);
  traffic += Sum(s, s.samples);
  if (kind == LayerKind::kAttention && s.kv_slices > 0 && s.copies > 1) {
    const double width = 2 * static_cast<double>(s.held.kv_rows());
    traffic += {1, s.rows() * width * kFp32Bytes};
  }
  return traffic;
}

AxisTraffic OfEmbedding(const CostShape& s) {
  const double parts = s.sequence ? s.degree : 1;
  const double words = std::ceil(s.whole_stream() / parts / 8);
  AxisTraffic traffic = {1, parts * words * 8};
  traffic += Gather(s);
  return traffic;
}

// A block of a leaf's rows exchanges its maxima and its sums with the labels'
// logits, the leaf the gradient of its input.
AxisTraffic OfHead(const CostShape& s) {
  const auto block_rows = static_cast<double>(HeadCutOf(s).block_rows);
  const double blocks = std::ceil(s.leaf_rows() / block_rows);
  AxisTraffic leaf = {2 * blocks, 3 * s.leaf_rows() * kFp32Bytes};
  leaf += Sum(s, s.samples_per_leaf);
  AxisTraffic traffic = leaf.Times(s.leaves());
  traffic += Gather(s);
  return traffic;
}

}  // namespace

AxisTraffic TensorTraffic(const CostShape& shape,
                          const std::vector<LayerKind>& layers,
                          const StageRange& stage) {
  AxisTraffic traffic;
  if (shape.degree == 1) return traffic;
  if (stage.begin == 0) traffic += OfEmbedding(shape);
  for (int64_t i = stage.begin; i < stage.end; ++i) {
    traffic += OfLayer(shape, layers[static_cast<size_t>(i)]);
  }
  if (stage.end == static_cast<int64_t>(layers.size())) {
    traffic += OfHead(shape);
  }
  return traffic;
}

}  // namespace lockstep
