#include "model/gradient_sum.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "determinism/check.h"
#include "model/kernels/grid_accumulate/grid_accumulate.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

MatrixRef Shifted(MatrixRef matrix, int64_t elements) {
  matrix.data = static_cast<const char*>(matrix.data) +
                elements * static_cast<int64_t>(SizeOf(matrix.dtype));
  return matrix;
}

// One product a leaf: each leaf is one addition to the sum.
void AddProductsFp32(Device& device, float* sum, const ProductLeaves& l) {
  for (int64_t leaf = 0; leaf < l.leaves; ++leaf) {
    const int64_t first = leaf * l.rows_per_leaf;
    Matmul(device, {.m = l.m,
                    .n = l.n,
                    .k = l.rows_per_leaf,
                    .a = Shifted(l.dy, first * l.dy.col_stride),
                    .b = Shifted(l.x, first * l.x.row_stride),
                    .c = sum,
                    .c_dtype = DType::kF32,
                    .c_row_stride = l.n,
                    .accumulate = true});
  }
}

void AddProductsGrid(Device& device, const GradientSum& gradient,
                     const ProductLeaves& l) {
  std::vector<KSegment> segments(static_cast<size_t>(l.leaves));
  std::vector<KSlice> slices(segments.size());
  for (int64_t leaf = 0; leaf < l.leaves; ++leaf) {
    const auto at = static_cast<size_t>(leaf);
    segments[at] = {leaf * l.rows_per_leaf, (leaf + 1) * l.rows_per_leaf};
    slices[at] = {&segments[at], 1};
  }
  Matmul(device, {.m = l.m,
                  .n = l.n,
                  .k = l.leaves * l.rows_per_leaf,
                  .a = l.dy,
                  .b = l.x,
                  .c = gradient.probe ? nullptr : gradient.grid,
                  .c_dtype = DType::kI64,
                  .c_row_stride = l.n,
                  .slices = slices.data(),
                  .slice_count = l.leaves,
                  .slice_use = SliceUse::kLeaves,
                  .grid_exponent = gradient.probe ? 0 : gradient.exponent,
                  .grid_stats = gradient.stats});
}

void AddToGrid(Device& device, const GradientSum& gradient, const float* leaf,
               int64_t leaves, int64_t size, int64_t offset) {
  GridAccumulate(device,
                 {.n = size,
                  .leaves = leaves,
                  .leaf = leaf,
                  .leaf_stride = size,
                  .sum = gradient.probe ? nullptr : gradient.grid + offset,
                  .exponent = gradient.probe ? 0 : gradient.exponent,
                  .stats = gradient.stats});
}

// The ids of one leaf that occur in the table's rows, ascending.
std::vector<int32_t> Occurring(const EmbeddingBackwardArgs& args,
                               const EmbeddingRows& held) {
  std::vector<int32_t> found;
  std::copy_if(args.ids, args.ids + args.rows, std::back_inserter(found),
               [&](int32_t id) { return id >= held.begin && id < held.end; });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// A leaf's sums stand in a small table of the rows that occur, and reach the
// grid in runs of neighbouring ids. Rows that do not occur have no entry; ids
// of other ranks' rows are those of a row that the small table does not hold.
void AddEmbeddingLeafToGrid(Device& device, const GradientSum& gradient,
                            EmbeddingBackwardArgs args) {
  const EmbeddingRows held = args.held.value_or(EmbeddingRows{0, args.vocab});
  const std::vector<int32_t> found = Occurring(args, held);
  const auto count = static_cast<int64_t>(found.size());
  std::vector<int32_t> places(static_cast<size_t>(args.rows));
  std::transform(
      args.ids, args.ids + args.rows, places.begin(), [&](int32_t id) {
        const auto at = std::lower_bound(found.begin(), found.end(), id);
        const bool here = at != found.end() && *at == id;
        return static_cast<int32_t>(here ? at - found.begin() : count);
      });
  Tensor table = Tensor::Zeros(device, DType::kF32, {count, args.d});
  args.ids = places.data();
  args.vocab = count + 1;
  args.held = EmbeddingRows{0, count};
  args.dtable = table.data<float>();
  EmbeddingBackward(device, args);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    const int32_t first = found[static_cast<size_t>(begin)];
    for (end = begin + 1;
         end < count && found[static_cast<size_t>(end)] == first + end - begin;
         ++end) {
    }
    AddToGrid(device, gradient, args.dtable + begin * args.d, 1,
              (end - begin) * args.d, (first - held.begin) * args.d);
  }
}

}  // namespace

TensorRef GradientRef(std::string_view name, const GradientSum& gradient,
                      int64_t rows, int64_t cols) {
  const bool grid = gradient.mode == GradientMode::kGrid;
  return {.name = name,
          .dtype = grid ? DType::kI64 : DType::kF32,
          .shape = {rows, cols},
          .data = grid ? static_cast<void*>(gradient.grid)
                       : static_cast<void*>(gradient.sum),
          .row_stride_bytes = cols * static_cast<int64_t>(SizeOf(
                                         grid ? DType::kI64 : DType::kF32))};
}

void AddProductLeaves(Device& device, const GradientSum& gradient,
                      const ProductLeaves& leaves) {
  if (gradient.mode == GradientMode::kLeafFp32) {
    return AddProductsFp32(device, gradient.sum, leaves);
  }
  AddProductsGrid(device, gradient, leaves);
}

void AddLeaves(Device& device, const GradientSum& gradient, const float* leaf,
               int64_t leaves, int64_t size) {
  if (gradient.mode == GradientMode::kGrid) {
    return AddToGrid(device, gradient, leaf, leaves, size, 0);
  }
  for (int64_t l = 0; l < leaves; ++l, leaf += size) {
    for (int64_t i = 0; i < size; ++i) gradient.sum[i] += leaf[i];
  }
}

void AddEmbeddingLeaves(Device& device, const GradientSum& gradient,
                        const EmbeddingBackwardArgs& args) {
  EmbeddingBackwardArgs part = args;
  if (gradient.mode == GradientMode::kLeafFp32) {
    part.dtable = gradient.sum;
    return EmbeddingBackward(device, part);
  }
  part.rows = args.rows_per_leaf;
  for (int64_t row = 0; row < args.rows; row += args.rows_per_leaf) {
    part.ids = args.ids + row;
    part.dout =
        static_cast<const char*>(args.dout) +
        row * args.dout_row_stride * static_cast<int64_t>(SizeOf(args.dtype));
    AddEmbeddingLeafToGrid(device, gradient, part);
  }
}

}  // namespace lockstep
