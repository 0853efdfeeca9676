#include "determinism/fingerprint_pieces.h"

#include <algorithm>
#include <array>

#include "determinism/check.h"
#include "determinism/cpu_level.h"
#include "determinism/environment.h"
#include "determinism/fingerprint_kernel.h"

namespace lockstep {
namespace {

using fingerprint_internal::AddWords;
using fingerprint_internal::Fmix32;
using fingerprint_internal::KeyOf;
using fingerprint_internal::kMostTogether;

// The level that LOCKSTEP_ISA names, so that a run of a slower level is one in
// its fingerprints too. One that does not exist is refused where the kernels'
// level is chosen, not here.
AddWords WordsOf(const absl::StatusOr<Isa>& isa) {
  if (!isa.ok()) {
    return FastestOf<AddWords>(scalar::FingerprintWords, avx2::FingerprintWords,
                               avx512::FingerprintWords);
  }
  if (*isa >= Isa::kAvx512) return avx512::FingerprintWords;
  return *isa == Isa::kAvx2 ? avx2::FingerprintWords : scalar::FingerprintWords;
}

// Up to kMostTogether tensors at one place.
class Place {
 public:
  Place(std::span<const void* const> data, std::span<Fingerprint> sums)
      : tensors_(data.size()) {
    for (size_t t = 0; t < tensors_; ++t) {
      data_[t] = static_cast<const unsigned char*>(data[t]);
      sums_[t] = &sums[t];
    }
  }

  void Add(size_t size_bytes, uint64_t byte_offset) {
    const size_t begin = byte_offset % 4;
    uint64_t index = byte_offset / 4;
    if (begin != 0) {
      const size_t head = std::min(size_bytes, 4 - begin);
      AddPartialWord(index++, begin, head);
      size_bytes -= head;
    }
    const uint64_t whole = size_bytes / 4;
    AddWholeWords(index, whole);
    AddPartialWord(index + whole, 0, size_bytes % 4);
  }

 private:
  // A word whose bytes [begin, begin + count) are there and the rest zero.
  void AddPartialWord(uint64_t index, size_t begin, size_t count) {
    if (count == 0) return;
    const uint32_t high_mixed = Fmix32(static_cast<uint32_t>(index >> 32));
    for (size_t t = 0; t < tensors_; ++t) {
      uint64_t word = 0;
      for (size_t i = 0; i < count; ++i) {
        word |= uint64_t{data_[t][i]} << (8 * (begin + i));
      }
      for (int lane = 0; lane < 2; ++lane) {
        sums_[t]->lane[lane] +=
            word * KeyOf(static_cast<uint32_t>(index), high_mixed, lane);
      }
    }
    Advance(count);
  }

  // Cut where the upper half of the index changes.
  void AddWholeWords(uint64_t index, uint64_t count) {
    static const AddWords add_words = WordsOf(ChosenIsa());
    while (count > 0) {
      const uint64_t until_wrap = (uint64_t{1} << 32) - (index & 0xffffffffu);
      const uint64_t now = std::min(count, until_wrap);
      uint64_t lanes[kMostTogether][2] = {};
      add_words({.data = data_.data(),
                 .tensors = static_cast<int>(tensors_),
                 .count = static_cast<int64_t>(now),
                 .first = static_cast<uint32_t>(index),
                 .high_mixed = Fmix32(static_cast<uint32_t>(index >> 32))},
                lanes);
      for (size_t t = 0; t < tensors_; ++t) {
        for (int lane = 0; lane < 2; ++lane) {
          sums_[t]->lane[lane] += lanes[t][lane];
        }
      }
      Advance(4 * now);
      index += now;
      count -= now;
    }
  }

  void Advance(uint64_t bytes) {
    for (size_t t = 0; t < tensors_; ++t) data_[t] += bytes;
  }

  const size_t tensors_;
  std::array<const unsigned char*, kMostTogether> data_ = {};
  std::array<Fingerprint*, kMostTogether> sums_ = {};
};

}  // namespace

void AddFingerprints(std::span<const void* const> data, size_t size_bytes,
                     uint64_t byte_offset, std::span<Fingerprint> sums) {
  LS_CHECK_EQ(data.size(), sums.size());
  for (size_t first = 0; first < data.size(); first += kMostTogether) {
    const size_t tensors = std::min(data.size() - first, size_t{kMostTogether});
    Place(data.subspan(first, tensors), sums.subspan(first, tensors))
        .Add(size_bytes, byte_offset);
  }
}

Fingerprint FingerprintBytes(const void* data, size_t size_bytes,
                             uint64_t byte_offset) {
  Fingerprint sum;
  AddFingerprints({&data, 1}, size_bytes, byte_offset, {&sum, 1});
  return sum;
}

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
                    int64_t begin, int64_t end,
                    std::span<Fingerprint> sums) const {
  LS_CHECK(0 <= begin && begin <= end && end <= count_)
      << begin << " to " << end << " of " << count_;
  std::vector<const void*> at(boxes.size());
  while (begin < end) {
    const int64_t inside = begin % run_;
    const int64_t now = std::min(run_ - inside, end - begin);
    for (size_t t = 0; t < boxes.size(); ++t) {
      at[t] = static_cast<const unsigned char*>(boxes[t]) +
              static_cast<size_t>(begin) * item_bytes;
    }
    const int64_t element = ElementOfRun(begin / run_) + inside;
    AddFingerprints(at, static_cast<size_t>(now) * item_bytes,
                    static_cast<uint64_t>(element) * item_bytes, sums);
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
