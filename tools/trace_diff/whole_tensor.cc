#include "tools/trace_diff/whole_tensor.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "determinism/dtype.h"

namespace lockstep {
namespace {

int64_t CountOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// Where positions of a dim that a rank has lie in the whole.
std::vector<int64_t> PositionsOf(const TracedTensor& part, size_t dim) {
  std::vector<int64_t> positions;
  if (dim < part.held.size()) {
    const std::vector<int64_t>& bounds = part.held[dim];
    for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
      for (int64_t at = bounds[i]; at < bounds[i + 1]; ++at) {
        positions.push_back(at);
      }
    }
    if (!bounds.empty()) return positions;
  }
  positions.resize(static_cast<size_t>(part.shape[dim]));
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

// A trace may be damaged: what does not fit is not copied.
bool Fits(const TracedTensor& part, const std::vector<int64_t>& whole,
          size_t width) {
  if (part.shape.size() != whole.size() || !part.values) return false;
  if (part.values->contents.size() !=
      static_cast<size_t>(part.count()) * width) {
    return false;
  }
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    const std::vector<int64_t> positions = PositionsOf(part, dim);
    if (static_cast<int64_t>(positions.size()) != part.shape[dim]) return false;
    for (const int64_t at : positions) {
      if (at < 0 || at >= whole[dim]) return false;
    }
  }
  return true;
}

void CopyPart(const TracedTensor& part, const std::vector<int64_t>& whole,
              size_t width, std::string& contents) {
  std::vector<std::vector<int64_t>> positions;
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    positions.push_back(PositionsOf(part, dim));
  }
  for (int64_t element = 0; element < part.count(); ++element) {
    int64_t rest = element, to = 0, stride = 1;
    for (size_t dim = whole.size(); dim-- > 0;) {
      to +=
          stride * positions[dim][static_cast<size_t>(rest % part.shape[dim])];
      rest /= part.shape[dim];
      stride *= whole[dim];
    }
    std::memcpy(
        contents.data() + static_cast<size_t>(to) * width,
        part.values->contents.data() + static_cast<size_t>(element) * width,
        width);
  }
}

}  // namespace

void TensorParts::Add(const TracedTensor& part) {
  if (first_ == nullptr) first_ = &part;
  const auto [at, added] = held_.try_emplace(part.held, &part);
  if (added) {
    covered_ += part.count();
  } else if (!(at->second->value == part.value)) {
    disagreement_ += part.value;
    // Lanes of 1 more than the difference: never the lanes of nothing.
    disagreement_ += Fingerprint{{1, 1}};
  }
}

std::optional<TracedTensor> TensorParts::Whole() const {
  const std::vector<int64_t>& shape = first_->whole();
  if (covered_ != CountOf(shape)) return std::nullopt;
  Fingerprint sum = disagreement_;
  for (const auto& [place, part] : held_) sum += part->value;
  return TracedTensor{.name = first_->name,
                      .dtype = first_->dtype,
                      .shape = shape,
                      .global_shape = {},
                      .held = {},
                      .value = sum,
                      .values = Contents()};
}

std::optional<TracedValues> TensorParts::Contents() const {
  const auto dtype = DTypeFromName(first_->dtype);
  if (!first_->values || first_->values->contents.empty() || !dtype.ok() ||
      !(disagreement_ == Fingerprint())) {
    return std::nullopt;
  }
  const std::vector<int64_t>& shape = first_->whole();
  const size_t width = SizeOf(*dtype);
  TracedValues values;
  values.contents.resize(static_cast<size_t>(CountOf(shape)) * width);
  for (const auto& [place, part] : held_) {
    if (!Fits(*part, shape, width)) return std::nullopt;
    CopyPart(*part, shape, width, values.contents);
  }
  return values;
}

}  // namespace lockstep
