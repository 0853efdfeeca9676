#include "determinism/fingerprint_pieces.h"

#include <algorithm>
#include <array>
#include <cstring>

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
  Place(std::span<const void* const> data, std::span<Fingerprint> sums,
        Copies copies)
      : tensors_(data.size()), copies_(!copies.empty()) {
    for (size_t t = 0; t < tensors_; ++t) {
      data_[t] = static_cast<const unsigned char*>(data[t]);
      sums_[t] = &sums[t];
      if (copies_) to_[t] = reinterpret_cast<unsigned char*>(copies[t]);
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
    Copy(count);
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
      uint64_t now = std::min(count, until_wrap);
      const uint64_t before = copies_ ? WordsToLine() : 0;
      const bool on_the_way = copies_ && before == 0;
      if (before > 0) now = std::min(now, before);
      if (copies_ && !on_the_way) Copy(4 * now);
      uint64_t lanes[kMostTogether][2] = {};
      add_words({.data = data_.data(),
                 .tensors = static_cast<int>(tensors_),
                 .count = static_cast<int64_t>(now),
                 .first = static_cast<uint32_t>(index),
                 .high_mixed = Fmix32(static_cast<uint32_t>(index >> 32)),
                 .copies = on_the_way ? to_.data() : nullptr},
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

  void Copy(uint64_t bytes) {
    if (!copies_) return;
    for (size_t t = 0; t < tensors_; ++t) {
      std::memcpy(to_[t], data_[t], bytes);
    }
  }
  // Until the copies begin lines of the cache; all there are if they never do
  // so together.
  uint64_t WordsToLine() const {
    constexpr uintptr_t kLine = 64, kWord = 4;
    const uintptr_t past = reinterpret_cast<uintptr_t>(to_[0]) % kLine;
    for (size_t t = 0; t < tensors_; ++t) {
      const uintptr_t other = reinterpret_cast<uintptr_t>(to_[t]) % kLine;
      if (other != past || past % kWord != 0) return UINT64_MAX;
    }
    return past == 0 ? 0 : (kLine - past) / kWord;
  }
  void Advance(uint64_t bytes) {
    for (size_t t = 0; t < tensors_; ++t) {
      data_[t] += bytes;
      if (copies_) to_[t] += bytes;
    }
  }

  const size_t tensors_;
  const bool copies_;
  std::array<unsigned char*, kMostTogether> to_ = {};
  std::array<const unsigned char*, kMostTogether> data_ = {};
  std::array<Fingerprint*, kMostTogether> sums_ = {};
};

}  // namespace

void AddFingerprints(std::span<const void* const> data, size_t size_bytes,
                     uint64_t byte_offset, std::span<Fingerprint> sums,
                     Copies copies) {
  LS_CHECK_EQ(data.size(), sums.size());
  LS_CHECK(copies.empty() || copies.size() == data.size());
  for (size_t first = 0; first < data.size(); first += kMostTogether) {
    const size_t tensors = std::min(data.size() - first, size_t{kMostTogether});
    Place(data.subspan(first, tensors), sums.subspan(first, tensors),
          copies.empty() ? copies : copies.subspan(first, tensors))
        .Add(size_bytes, byte_offset);
  }
}

Fingerprint FingerprintBytes(const void* data, size_t size_bytes,
                             uint64_t byte_offset) {
  Fingerprint sum;
  AddFingerprints({&data, 1}, size_bytes, byte_offset, {&sum, 1});
  return sum;
}

}  // namespace lockstep
