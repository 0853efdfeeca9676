#include "determinism/tensor_place.h"

#include <functional>
#include <numeric>

#include "determinism/check.h"

namespace lockstep {
namespace {

int64_t CountOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// What is here of dim `dim`, never empty.
std::vector<DimRange> RangesOf(const TensorRef& tensor, size_t dim) {
  if (dim < tensor.held.size() && !tensor.held[dim].empty()) {
    return tensor.held[dim];
  }
  return {{0, tensor.shape[dim]}};
}

void CheckShape(const TensorRef& tensor) {
  const std::vector<int64_t>& whole = UnshardedShape(tensor);
  LS_CHECK_EQ(whole.size(), tensor.shape.size()) << tensor.name;
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    int64_t length = 0, before = 0;
    for (const DimRange& range : RangesOf(tensor, dim)) {
      LS_CHECK(range.begin >= before && range.end <= whole[dim]) << tensor.name;
      before = range.end;
      length += range.end - range.begin;
    }
    LS_CHECK_EQ(length, tensor.shape[dim]) << tensor.name << ", dim " << dim;
  }
}

// Where rows (all dims but the last) lie in the unsharded tensor.
class RowPlaces {
 public:
  explicit RowPlaces(const TensorRef& tensor)
      : shape_(tensor.shape), whole_(UnshardedShape(tensor)) {
    for (size_t dim = 0; dim + 1 < shape_.size(); ++dim) {
      std::vector<int64_t>& places = places_.emplace_back();
      for (const DimRange& range : RangesOf(tensor, dim)) {
        for (int64_t i = range.begin; i < range.end; ++i) places.push_back(i);
      }
    }
  }

  // The first element of the unsharded row that row `row` here belongs to.
  int64_t FirstElement(int64_t row) const {
    int64_t element = 0, scale = whole_.back();
    for (size_t dim = places_.size(); dim-- > 0;) {
      element += places_[dim][static_cast<size_t>(row % shape_[dim])] * scale;
      row /= shape_[dim];
      scale *= whole_[dim];
    }
    return element;
  }

 private:
  const std::vector<int64_t>& shape_;
  const std::vector<int64_t>& whole_;
  std::vector<std::vector<int64_t>> places_;
};

// Place among what is here of a dim; -1 if it is not.
int64_t IndexHere(const std::vector<DimRange>& ranges, int64_t index) {
  int64_t before = 0;
  for (const DimRange& range : ranges) {
    if (index >= range.begin && index < range.end) {
      return before + index - range.begin;
    }
    before += range.end - range.begin;
  }
  return -1;
}

}  // namespace

const std::vector<int64_t>& UnshardedShape(const TensorRef& tensor) {
  return tensor.global_shape.empty() ? tensor.shape : tensor.global_shape;
}

void ForEachRun(const TensorRef& tensor,
                const std::function<void(const TensorRun&)>& run) {
  const int64_t count = CountOf(tensor.shape);
  if (count == 0) return;
  const bool packed = tensor.row_stride_bytes == 0 || tensor.shape.empty();
  if (packed && tensor.held.empty()) return run({tensor.data, 0, count});
  CheckShape(tensor);
  const auto bytes = static_cast<int64_t>(SizeOf(tensor.dtype));
  const int64_t width = tensor.shape.back();
  const int64_t stride = packed ? width * bytes : tensor.row_stride_bytes;
  const std::vector<DimRange> columns =
      RangesOf(tensor, tensor.shape.size() - 1);
  const RowPlaces places(tensor);
  for (int64_t row = 0; row < count / width; ++row) {
    const char* data = static_cast<const char*>(tensor.data) + row * stride;
    const int64_t first = places.FirstElement(row);
    for (const DimRange& range : columns) {
      const int64_t length = range.end - range.begin;
      run({data, first + range.begin, length});
      data += length * bytes;
    }
  }
}

std::optional<int64_t> PositionHere(const TensorRef& tensor, int64_t element,
                                    bool whole_rows) {
  CheckShape(tensor);
  const std::vector<int64_t>& whole = UnshardedShape(tensor);
  int64_t position = 0, scale = 1;
  for (size_t dim = whole.size(); dim-- > 0;) {
    const bool any = whole_rows && dim + 1 == whole.size();
    const int64_t index =
        any ? 0 : IndexHere(RangesOf(tensor, dim), element % whole[dim]);
    element /= whole[dim];
    if (index < 0 || index >= tensor.shape[dim]) return std::nullopt;
    position += index * scale;
    scale *= tensor.shape[dim];
  }
  return position;
}

}  // namespace lockstep
