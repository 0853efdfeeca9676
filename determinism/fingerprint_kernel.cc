#include "determinism/fingerprint_kernel.h"

#include <cstring>

#include "determinism/fingerprint_vector.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

using fingerprint_internal::Words;

// The words from `begin` on, one at a time.
void AddScalars(const Words& words, int64_t begin, uint64_t (*lanes)[2]) {
  for (int64_t i = begin; i < words.count; ++i) {
    const uint32_t low = words.first + static_cast<uint32_t>(i);
    for (int lane = 0; lane < 2; ++lane) {
      const uint64_t key =
          fingerprint_internal::KeyOf(low, words.high_mixed, lane);
      for (int t = 0; t < words.tensors; ++t) {
        uint32_t word;
        std::memcpy(&word, words.data[t] + 4 * i, sizeof(word));
        lanes[t][lane] += word * key;
      }
    }
    for (int t = 0; words.copies != nullptr && t < words.tensors; ++t) {
      std::memcpy(words.copies[t] + 4 * i, words.data[t] + 4 * i, 4);
    }
  }
}

#if defined(__AVX512F__) || defined(__AVX2__)

// Fmix32 and the last bit, of a whole vector.
LS_MATH_INLINE Vector Keys(Vector h) {
  h = Multiply32(XorShift<16>(h), Same(0x85ebca6bu));
  h = Multiply32(XorShift<13>(h), Same(0xc2b2ae35u));
  return Or(XorShift<16>(h), Same(1));
}

LS_MATH_INLINE uint64_t SumOf(Vector sum) {
  uint64_t parts[kVectorWords / 2], total = 0;
  Store(sum, parts);
  for (const uint64_t part : parts) total += part;
  return total;
}

// What Fmix32 is given at the first place, and by how much it grows.
LS_MATH_INLINE Vector FirstPlaces(uint32_t first) {
  uint32_t places[kVectorWords];
  for (int i = 0; i < kVectorWords; ++i) {
    places[i] = first + static_cast<uint32_t>(i);
  }
  return Load(places);
}

// Whole vectors; returns how many words those were. Additions modulo 2^64, so
// their order does not matter.
template <int kTensors, bool kCopies>
int64_t AddVectors(const Words& words, uint64_t (*lanes)[2]) {
  const uint32_t start = words.first + words.high_mixed;
  Vector place[2];
  for (int lane = 0; lane < 2; ++lane) {
    place[lane] = FirstPlaces(start + fingerprint_internal::LaneConstant(lane));
  }
  Vector sums[kTensors][2];
  for (auto& sum : sums) sum[0] = sum[1] = Same(0);
  int64_t i = 0;
  for (; i + kVectorWords <= words.count; i += kVectorWords) {
    for (int lane = 0; lane < 2; ++lane) {
      const Vector even = Keys(place[lane]);
      const Vector odd = Odd(even);
      for (int t = 0; t < kTensors; ++t) {
        const Vector w = Load(words.data[t] + 4 * i);
        if (kCopies && lane == 0) Stream(w, words.copies[t] + 4 * i);
        sums[t][lane] = Add64(sums[t][lane], Add64(MultiplyEven(w, even),
                                                   MultiplyEven(Odd(w), odd)));
      }
      place[lane] = Add32(place[lane], Same(kVectorWords));
    }
  }
  for (int t = 0; t < kTensors; ++t) {
    for (int lane = 0; lane < 2; ++lane) lanes[t][lane] += SumOf(sums[t][lane]);
  }
  return i;
}

template <bool kCopies>
int64_t AddVectors(const Words& words, uint64_t (*lanes)[2]) {
  switch (words.tensors) {
    case 1:
      return AddVectors<1, kCopies>(words, lanes);
    case 2:
      return AddVectors<2, kCopies>(words, lanes);
    case 3:
      return AddVectors<3, kCopies>(words, lanes);
    default:
      return AddVectors<4, kCopies>(words, lanes);
  }
}

int64_t AddVectors(const Words& words, uint64_t (*lanes)[2]) {
  if (words.copies == nullptr) return AddVectors<false>(words, lanes);
  const int64_t added = AddVectors<true>(words, lanes);
  Fence();
  return added;
}

#else

// All words, a tensor at a time: plain, for the compiler to vectorise.
int64_t AddVectors(const Words& words, uint64_t (*lanes)[2]) {
  for (int t = 0; t < words.tensors; ++t) {
    uint64_t sum[2] = {0, 0};
    for (int64_t i = 0; i < words.count; ++i) {
      uint32_t word;
      std::memcpy(&word, words.data[t] + 4 * i, sizeof(word));
      const uint32_t low = words.first + static_cast<uint32_t>(i);
      for (int lane = 0; lane < 2; ++lane) {
        sum[lane] += uint64_t{word} *
                     fingerprint_internal::KeyOf(low, words.high_mixed, lane);
      }
    }
    lanes[t][0] += sum[0];
    lanes[t][1] += sum[1];
    if (words.copies == nullptr) continue;
    std::memcpy(words.copies[t], words.data[t],
                4 * static_cast<size_t>(words.count));
  }
  return words.count;
}

#endif

}  // namespace

void FingerprintWords(const Words& words, uint64_t (*lanes)[2]) {
  AddScalars(words, AddVectors(words, lanes), lanes);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
