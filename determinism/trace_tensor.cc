#include "determinism/trace_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "determinism/check.h"
#include "determinism/tensor_place.h"

namespace lockstep::trace_internal {
namespace {

int64_t CountOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

template <typename T>
T Load(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T),
              sizeof(T));
  return value;
}

// Calls see(i, value) for each element of a run; exact but for 64-bit integers.
template <typename See>
void ForEachValue(DType dtype, const TensorRun& run, See see) {
  const auto all = [&](auto value_at) {
    for (int64_t i = 0; i < run.count; ++i) see(i, value_at(i));
  };
  switch (dtype) {
    case DType::kF32:
      return all([&](int64_t i) -> double { return Load<float>(run.data, i); });
    case DType::kBF16:
      return all(
          [&](int64_t i) -> double { return ToF32(Load<BF16>(run.data, i)); });
    case DType::kF16:
      return all(
          [&](int64_t i) -> double { return ToF32(Load<F16>(run.data, i)); });
    case DType::kF64:
      return all([&](int64_t i) { return Load<double>(run.data, i); });
    case DType::kI64:
      return all([&](int64_t i) {
        return static_cast<double>(Load<int64_t>(run.data, i));
      });
    case DType::kI32:
      return all(
          [&](int64_t i) -> double { return Load<int32_t>(run.data, i); });
    case DType::kU8:
      return all(
          [&](int64_t i) -> double { return Load<uint8_t>(run.data, i); });
    case DType::kU16:
      return all(
          [&](int64_t i) -> double { return Load<uint16_t>(run.data, i); });
    case DType::kU32:
      return all(
          [&](int64_t i) -> double { return Load<uint32_t>(run.data, i); });
    case DType::kU64:
      return all([&](int64_t i) {
        return static_cast<double>(Load<uint64_t>(run.data, i));
      });
  }
}

// Of the unsharded tensor, the same whoever holds it.
std::vector<int64_t> SampledElements(const TensorRef& tensor) {
  const int64_t count = CountOf(UnshardedShape(tensor));
  std::vector<int64_t> elements;
  const int64_t sampled = std::min(kSampledElements, count);
  for (int64_t i = 0; i < sampled; ++i) {
    // One of each part, not always its first: parts may be rows.
    const int64_t part = count / sampled;
    elements.push_back(i * part + i * 7 % part);
  }
  return elements;
}

void FillStatistics(trace::TensorValues& out, const TensorRef& tensor,
                    bool sample) {
  const std::vector<int64_t> sampled =
      sample ? SampledElements(tensor) : std::vector<int64_t>();
  double absmax = 0, squares = 0;
  int64_t finite = 0, non_finite = 0;
  ForEachRun(tensor, [&](const TensorRun& run) {
    auto next = std::lower_bound(sampled.begin(), sampled.end(), run.element);
    ForEachValue(tensor.dtype, run, [&](int64_t i, double value) {
      if (next != sampled.end() && *next == run.element + i) {
        out.add_elements(*next++);
        out.add_sample(value);
      }
      if (!std::isfinite(value)) {
        ++non_finite;
        return;
      }
      ++finite;
      absmax = std::max(absmax, std::fabs(value));
      squares += value * value;
    });
  });
  out.set_absmax(absmax);
  out.set_rms(finite == 0 ? 0
                          : std::sqrt(squares / static_cast<double>(finite)));
  out.set_non_finite(non_finite);
}

void FillContents(trace::TensorValues& out, const TensorRef& tensor) {
  const size_t bytes = SizeOf(tensor.dtype);
  std::string& contents = *out.mutable_contents();
  ForEachRun(tensor, [&](const TensorRun& run) {
    contents.append(static_cast<const char*>(run.data),
                    static_cast<size_t>(run.count) * bytes);
  });
}

}  // namespace

void Fill(trace::Tensor& out, const TensorRef& tensor,
          const TraceOptions& options) {
  const TraceValues values = options.values;
  const TensorFingerprint print = FingerprintOf(tensor, options.loop);
  out.set_name(print.name);
  out.set_dtype(NameOf(print.dtype));
  for (const int64_t dim : tensor.shape) out.add_shape(dim);
  out.set_count(CountOf(tensor.shape));
  for (const int64_t dim : tensor.global_shape) out.add_global_shape(dim);
  for (const std::vector<DimRange>& ranges : tensor.held) {
    trace::HeldDim& dim = *out.add_held();
    for (const DimRange& range : ranges) {
      dim.add_bounds(range.begin);
      dim.add_bounds(range.end);
    }
  }
  out.set_lane0(print.value.lane[0]);
  out.set_lane1(print.value.lane[1]);
  if (values == TraceValues::kNone) return;
  FillStatistics(*out.mutable_values(), tensor, values >= TraceValues::kSample);
  if (values == TraceValues::kBytes) {
    FillContents(*out.mutable_values(), tensor);
  }
}

}  // namespace lockstep::trace_internal
