// How far two tensors are apart, from what traces have of their values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "determinism/dtype.h"
#include "tools/trace_diff/tolerance.h"

namespace lockstep {
namespace {

double ValueAt(DType dtype, const char* element) {
  const auto load = [&](auto value) {
    std::memcpy(&value, element, sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kF32:
      return load(0.0f);
    case DType::kBF16:
      return ToF32(load(BF16{}));
    case DType::kF16:
      return ToF32(load(F16{}));
    case DType::kF64:
      return load(0.0);
    default:
      return static_cast<double>(load(int64_t{0}));
  }
}

// Of elements whose places are the same; both parts lie alike.
double LargestOfBytes(const TracedTensor& a, const TracedTensor& b,
                      double scale) {
  const auto type_a = DTypeFromName(a.dtype), type_b = DTypeFromName(b.dtype);
  const auto known = [](const absl::StatusOr<DType>& type) {
    return type.ok() && (*type <= DType::kF64 || *type == DType::kI64);
  };
  if (!known(type_a) || !known(type_b)) return 0;
  const size_t size_a = SizeOf(*type_a), size_b = SizeOf(*type_b);
  const std::string& from_a = a.values->contents;
  const std::string& from_b = b.values->contents;
  const size_t count = std::min(from_a.size() / size_a, from_b.size() / size_b);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference =
        std::fabs(ValueAt(*type_a, from_a.data() + i * size_a) -
                  scale * ValueAt(*type_b, from_b.data() + i * size_b));
    if (std::isfinite(difference)) largest = std::max(largest, difference);
  }
  return largest;
}

double LargestOfSample(const TracedValues& a, const TracedValues& b,
                       double scale) {
  std::map<int64_t, double> sampled;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    sampled[a.elements[i]] = a.sample[i];
  }
  double largest = 0;
  for (size_t i = 0; i < b.elements.size(); ++i) {
    const auto other = sampled.find(b.elements[i]);
    if (other == sampled.end()) continue;
    const double difference = std::fabs(other->second - scale * b.sample[i]);
    if (std::isfinite(difference)) largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace

double EpsilonOf(const std::string& dtype) {
  if (dtype == "BF16") return 0x1p-7;
  if (dtype == "F16") return 0x1p-10;
  if (dtype == "F64") return 0x1p-52;
  return 0x1p-23;
}

std::optional<double> RelativeDistance(const TracedTensor& a,
                                       const TracedTensor& b, double scale) {
  if (!a.values || !b.values) return std::nullopt;
  const TracedValues &x = *a.values, &y = *b.values;
  if (x.non_finite != y.non_finite) {
    return std::numeric_limits<double>::infinity();
  }
  const double whole = std::max(x.absmax, scale * y.absmax);
  if (whole == 0) return 0;
  const double largest = std::max(
      {std::fabs(x.absmax - scale * y.absmax), std::fabs(x.rms - scale * y.rms),
       LargestOfSample(x, y, scale), LargestOfBytes(a, b, scale)});
  return largest / whole;
}

}  // namespace lockstep
