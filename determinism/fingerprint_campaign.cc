#include "determinism/fingerprint_campaign.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/philox.h"

namespace lockstep {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr uint64_t kSeed = 11;
constexpr uint64_t kElements = 1024;
constexpr uint64_t kRow = 32;  // elements; as many rows
constexpr uint64_t kMostInBlock = 256;
// Trials that change one tensor.
constexpr uint64_t kTrialsATensor = 256;

// The draws of one tensor or one trial.
class Draws {
 public:
  Draws(uint64_t item, uint64_t number) : item_(item), next_(number << 16) {}
  uint64_t Below(uint64_t limit) {
    return RandomU32(kSeed, {Stream::kTest, 5, item_, next_++}) % limit;
  }

 private:
  const uint64_t item_;
  uint64_t next_;
};

struct Tensor {
  uint64_t item = 4;    // bytes of an element
  uint64_t offset = 0;  // in bytes, of a larger tensor
  Bytes bytes;

  unsigned char* At(uint64_t element) { return &bytes[element * item]; }
  void Flip(uint64_t element, uint64_t bit) {
    At(element)[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
  }
  void FlipSign(uint64_t element) { Flip(element, 8 * item - 1); }
};

uint32_t ElementOf(Contents contents, uint64_t i, Draws& draws) {
  switch (contents) {
    case Contents::kRandom:
      return static_cast<uint32_t>(draws.Below(uint64_t{1} << 32));
    case Contents::kConstant:
      return std::bit_cast<uint32_t>(1.0f);
    case Contents::kRamp:
      return std::bit_cast<uint32_t>(static_cast<float>(i) * 0.125f);
    case Contents::kBf16:  // small weights: few exponents, 8 bits of fraction
      return static_cast<uint32_t>(0x3c00 + draws.Below(0x300) +
                                   (draws.Below(2) << 15));
  }
  return 0;
}

Tensor MakeTensor(Change change, Contents contents, uint64_t number) {
  Draws draws(static_cast<uint64_t>(contents), number);
  Tensor tensor;
  tensor.item = contents == Contents::kBf16 ? 2 : 4;
  // Also beyond 2^34 bytes, where the upper half of an index counts.
  tensor.offset =
      tensor.item * (draws.Below(uint64_t{1} << 32) << draws.Below(8));
  tensor.bytes.resize(kElements * tensor.item);
  uint64_t hot = 0;
  for (uint64_t i = 0; i < kElements; ++i) {
    if (i % kRow == 0) hot = draws.Below(kRow);
    const bool cold = change == Change::kOneHotRows && i % kRow != hot;
    const uint32_t value = cold ? 0 : ElementOf(contents, i, draws);
    std::memcpy(tensor.At(i), &value, tensor.item);
  }
  return tensor;
}

void SwapElements(Tensor& t, uint64_t a, uint64_t b, uint64_t count) {
  if (a == b) return;
  std::swap_ranges(t.At(a), t.At(a) + count * t.item, t.At(b));
}

void Permute(Tensor& t, Draws& draws) {
  for (uint64_t row = kElements / kRow - 1; row > 0; --row) {
    SwapElements(t, row * kRow, draws.Below(row + 1) * kRow, kRow);
  }
}

void ChangeSigns(Tensor& t, Draws& draws) {
  const uint64_t first = draws.Below(kElements);
  uint64_t second = draws.Below(kElements - 1);
  second += second >= first ? 1 : 0;
  t.FlipSign(first);
  t.FlipSign(second);
}

void ChangeQuad(Tensor& t, Draws& draws) {
  const uint64_t stride = 1 + draws.Below(kElements / 4 - 1);
  const uint64_t first = draws.Below(kElements - 3 * stride);
  const uint64_t bit = draws.Below(8 * t.item);
  for (uint64_t i = 0; i < 4; ++i) t.Flip(first + i * stride, bit);
}

void ChangeBlock(Change change, Tensor& t, Draws& draws) {
  const uint64_t count = 1 + draws.Below(kMostInBlock);
  const uint64_t first = draws.Below(kElements - count + 1);
  if (change == Change::kSignBlock) {
    for (uint64_t i = 0; i < count; ++i) t.FlipSign(first + i);
  } else if (change == Change::kZeroBlock) {
    std::memset(t.At(first), 0, count * t.item);
  } else {
    const uint64_t from = draws.Below(kElements - count + 1);
    std::memmove(t.At(first), t.At(from), count * t.item);
  }
}

void Apply(Change change, Tensor& t, Draws& draws) {
  switch (change) {
    case Change::kFlip:
      return t.Flip(draws.Below(kElements), draws.Below(8 * t.item));
    case Change::kSignPair:
      return ChangeSigns(t, draws);
    case Change::kFlipQuad:
      return ChangeQuad(t, draws);
    case Change::kSwap: {
      const uint64_t a = draws.Below(kElements);
      return SwapElements(t, a, draws.Below(kElements), 1);
    }
    case Change::kOneHotRows: {
      const uint64_t a = kRow * draws.Below(kElements / kRow);
      return SwapElements(t, a, kRow * draws.Below(kElements / kRow), kRow);
    }
    case Change::kPermutation:
      return Permute(t, draws);
    default:
      return ChangeBlock(change, t, draws);
  }
}

Fingerprint Take(const Tensor& t) {
  return FingerprintBytes(t.bytes.data(), t.bytes.size(), t.offset);
}

uint64_t TakeAffine(const Tensor& t) {
  uint64_t sum = 0;
  for (uint64_t i = 0; 4 * i < t.bytes.size(); ++i) {
    uint32_t word;
    std::memcpy(&word, &t.bytes[4 * i], sizeof(word));
    const uint64_t place = t.offset / 4 + i;
    sum += uint64_t{word} *
           (static_cast<uint32_t>(0x9e3779b1u * place + 0x6a09e667u) | 1u);
  }
  return sum;
}

constexpr std::array<const char*, kChangeCount> kChanges = {
    "flip",         "sign_pair",   "flip_quad",  "sign_block", "swap",
    "one_hot_rows", "permutation", "zero_block", "copy_block"};
constexpr std::array<const char*, kContentsCount> kContents = {
    "random", "constant", "ramp", "bf16"};

}  // namespace

const char* NameOf(Change change) {
  return kChanges[static_cast<size_t>(change)];
}
const char* NameOf(Contents contents) {
  return kContents[static_cast<size_t>(contents)];
}

void RunTrials(Change change, Contents contents, uint64_t trials,
               CampaignCounts& counts) {
  const uint64_t item =
      16 + 16 * static_cast<uint64_t>(change) + static_cast<uint64_t>(contents);
  const uint64_t end = counts.trials + trials;
  while (counts.trials < end) {
    const Tensor tensor =
        MakeTensor(change, contents, counts.trials / kTrialsATensor);
    const Fingerprint before = Take(tensor);
    const uint64_t before_affine = TakeAffine(tensor);
    Tensor after = tensor;
    do {
      Draws draws(item, counts.trials);
      after.bytes = tensor.bytes;
      Apply(change, after, draws);
      if (after.bytes != tensor.bytes) {
        counts.changed += 1;
        counts.missed += Take(after) == before ? 1 : 0;
        counts.missed_by_affine += TakeAffine(after) == before_affine ? 1 : 0;
      }
      counts.trials += 1;
    } while (counts.trials < end && counts.trials % kTrialsATensor != 0);
  }
}

}  // namespace lockstep
