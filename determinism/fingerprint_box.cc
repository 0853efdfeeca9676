// Boxes of a tensor as runs that are contiguous in it.

#include <algorithm>
#include <cstddef>

#include "determinism/check.h"
#include "determinism/fingerprint_pieces.h"

namespace lockstep {

BoxPieces::BoxPieces(std::span<const int64_t> global_shape,
                     std::span<const int64_t> box_start,
                     std::span<const int64_t> box_shape) {
  const size_t rank = global_shape.size();
  LS_CHECK_EQ(box_start.size(), rank);
  LS_CHECK_EQ(box_shape.size(), rank);
  int64_t stride = 1;
  bool contiguous = true;
  for (size_t i = rank; i-- > 0;) {
    LS_CHECK(box_start[i] >= 0 && box_shape[i] >= 0 &&
             box_start[i] + box_shape[i] <= global_shape[i])
        << "dim " << i << ": [" << box_start[i] << ", +" << box_shape[i]
        << ") of " << global_shape[i];
    first_ += box_start[i] * stride;
    count_ *= box_shape[i];
    if (contiguous) {
      run_ *= box_shape[i];
    } else {
      lengths_.push_back(box_shape[i]);
      strides_.push_back(stride);
    }
    contiguous = contiguous && box_shape[i] == global_shape[i];
    stride *= global_shape[i];
  }
}

int64_t BoxPieces::ElementOfRun(int64_t run) const {
  int64_t element = first_;
  for (size_t dim = 0; dim < lengths_.size(); ++dim) {
    element += run % lengths_[dim] * strides_[dim];
    run /= lengths_[dim];
  }
  return element;
}

void BoxPieces::Add(std::span<const void* const> boxes, size_t item_bytes,
                    int64_t begin, int64_t end, std::span<Fingerprint> sums,
                    Copies copies) const {
  LS_CHECK(0 <= begin && begin <= end && end <= count_)
      << begin << " to " << end << " of " << count_;
  std::vector<const void*> at(boxes.size());
  std::vector<std::byte*> to(copies.size());
  while (begin < end) {
    const int64_t inside = begin % run_;
    const int64_t now = std::min(run_ - inside, end - begin);
    const size_t offset = static_cast<size_t>(begin) * item_bytes;
    for (size_t t = 0; t < boxes.size(); ++t) {
      at[t] = static_cast<const unsigned char*>(boxes[t]) + offset;
    }
    for (size_t t = 0; t < to.size(); ++t) to[t] = copies[t] + offset;
    const int64_t element = ElementOfRun(begin / run_) + inside;
    AddFingerprints(at, static_cast<size_t>(now) * item_bytes,
                    static_cast<uint64_t>(element) * item_bytes, sums, to);
    begin += now;
  }
}

Fingerprint FingerprintBox(const void* box_data, DType dtype,
                           std::span<const int64_t> global_shape,
                           std::span<const int64_t> box_start,
                           std::span<const int64_t> box_shape) {
  const BoxPieces pieces(global_shape, box_start, box_shape);
  Fingerprint sum;
  pieces.Add({&box_data, 1}, SizeOf(dtype), 0, pieces.count(), {&sum, 1});
  return sum;
}

}  // namespace lockstep
