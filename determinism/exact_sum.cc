#include "determinism/exact_sum.h"

#include <algorithm>
#include <bit>

#include "determinism/check.h"

namespace lockstep {
namespace {

constexpr int kLowestExponent = -1088;  // of limb 0
constexpr int64_t kLimbMask = 0xffffffff;
// A limb takes at most 2^32 an addition, from a start below 2^33; two such
// limbs must still add up in Merge.
constexpr int64_t kMaxAdditions = int64_t{1} << 28;

constexpr uint64_t kInfinityBits = uint64_t{0x7ff} << 52;
constexpr uint64_t kQuietNanBits = kInfinityBits | uint64_t{1} << 51;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Bits [low, low + count) of a number of 32-bit limbs, count <= 64; bits below
// limb 0 are zero.
uint64_t BitsAt(std::span<const int64_t> limbs, int low, int count) {
  uint64_t result = 0;
  for (int i = 0; i < count; ++i) {
    const int bit = low + i;
    if (bit < 0) continue;
    result |= (static_cast<uint64_t>(limbs[bit / 32]) >> (bit % 32) & 1) << i;
  }
  return result;
}

bool AnyBitBelow(std::span<const int64_t> limbs, int end) {
  for (int i = 0; i < end / 32; ++i) {
    if (limbs[i] != 0) return true;
  }
  const uint64_t mask = (uint64_t{1} << (end % 32)) - 1;
  return end > 0 && (static_cast<uint64_t>(limbs[end / 32]) & mask) != 0;
}

// Nearest binary64 bits of a normalised, positive number.
uint64_t RoundMagnitude(std::span<const int64_t> limbs) {
  int top = static_cast<int>(limbs.size()) - 1;
  if (limbs[top] > kLimbMask) return kInfinityBits;
  while (limbs[top] == 0) --top;
  const int highest =
      32 * top + std::bit_width(static_cast<uint64_t>(limbs[top])) - 1;
  // The lowest bit kept: 53 of them, or as far down as subnormals reach.
  const int lowest = std::max(highest - 52, -1074 - kLowestExponent);
  uint64_t significand = BitsAt(limbs, lowest, 53);
  const bool half = BitsAt(limbs, lowest - 1, 1) != 0;
  const bool more = AnyBitBelow(limbs, lowest - 1);
  significand += half && (more || (significand & 1) != 0);
  // A carry out of the significand moves into the exponent by itself, and so
  // does the step from the largest subnormal to the smallest normal.
  const auto biased = static_cast<uint64_t>(lowest + kLowestExponent + 1074);
  const uint64_t bits = significand + (biased << 52);
  return std::min(bits, kInfinityBits);
}

}  // namespace

void ExactSum::CountAddition(int64_t additions) {
  additions_ += additions;
  if (additions_ >= kMaxAdditions) Normalise();
}

void ExactSum::Normalise() {
  int64_t carry = 0;
  for (int i = 0; i + 1 < kLimbs; ++i) {
    const int64_t sum = limbs_[i] + carry;
    limbs_[i] = sum & kLimbMask;
    carry = sum >> 32;  // arithmetic: rounds down, so the limb stays positive
  }
  limbs_[kLimbs - 1] += carry;
  additions_ = 0;
}

void ExactSum::AddScaled(uint64_t magnitude, int exponent, bool negative) {
  const int shift = exponent - kLowestExponent;
  const int limb = shift / 32;
  const unsigned __int128 wide = static_cast<unsigned __int128>(magnitude)
                                 << (shift % 32);
  const int64_t part[3] = {static_cast<int64_t>(wide & kLimbMask),
                           static_cast<int64_t>(wide >> 32 & kLimbMask),
                           static_cast<int64_t>(wide >> 64)};
  for (int i = 0; i < 3; ++i) limbs_[limb + i] += negative ? -part[i] : part[i];
  CountAddition(1);
}

void ExactSum::Add(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits & kSignBit) != 0;
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) {
    int64_t& infinities =
        negative ? negative_infinity_count_ : positive_infinity_count_;
    ++(fraction != 0 ? nan_count_ : infinities);
    return;
  }
  const uint64_t hidden = biased == 0 ? 0 : uint64_t{1} << 52;
  AddScaled(fraction | hidden, std::max(biased, 1) - 1075, negative);
}

// Squares of significands go into one bin an exponent; 2^16 of them, each below
// 2^48, fit a bin. Four sets of bins, since neighbours often share an exponent
// and would wait for each other's store.
void ExactSum::AddSquares(std::span<const float> values) {
  constexpr int kSets = 4;
  constexpr size_t kBlock = size_t{kSets} << 16;
  for (size_t first = 0; first < values.size(); first += kBlock) {
    const size_t count = std::min(kBlock, values.size() - first);
    const float* x = values.data() + first;
    uint64_t bins[kSets][256] = {};
    const auto add = [&bins](int set, float value) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      const uint32_t biased = bits >> 23 & 0xff;
      const uint64_t hidden = uint64_t{biased != 0} << 23;
      const uint64_t significand = (bits & 0x7fffff) | hidden;
      // A NaN's or infinity's bin counts 1 for the one, 2^32 for the other.
      const uint64_t special = (bits & 0x7fffff) != 0 ? 1 : uint64_t{1} << 32;
      bins[set][biased] += biased == 255 ? special : significand * significand;
    };
    size_t i = 0;
    for (; i + kSets <= count; i += kSets) {
      for (int set = 0; set < kSets; ++set) add(set, x[i + set]);
    }
    for (; i < count; ++i) add(static_cast<int>(i % kSets), x[i]);
    for (const auto& set : bins) AddSquareBins(set);
  }
}

void ExactSum::AddSquareBins(const uint64_t (&bins)[256]) {
  for (int biased = 0; biased < 255; ++biased) {
    if (bins[biased] == 0) continue;
    AddScaled(bins[biased], 2 * (std::max(biased, 1) - 150), false);
  }
  nan_count_ += static_cast<int64_t>(bins[255] & kLimbMask);
  positive_infinity_count_ += static_cast<int64_t>(bins[255] >> 32);
}

void ExactSum::Merge(const ExactSum& other) {
  for (int i = 0; i < kLimbs; ++i) limbs_[i] += other.limbs_[i];
  nan_count_ += other.nan_count_;
  positive_infinity_count_ += other.positive_infinity_count_;
  negative_infinity_count_ += other.negative_infinity_count_;
  // Both sides stay below kMaxAdditions plus one start each.
  CountAddition(other.additions_ + 1);
}

double ExactSum::Round() const {
  const bool up = positive_infinity_count_ > 0;
  const bool down = negative_infinity_count_ > 0;
  if (nan_count_ > 0 || (up && down)) {
    return std::bit_cast<double>(kQuietNanBits);
  }
  if (up || down) {
    return std::bit_cast<double>(kInfinityBits | (down ? kSignBit : 0));
  }
  ExactSum magnitude = *this;
  magnitude.Normalise();
  const bool negative = magnitude.limbs_[kLimbs - 1] < 0;
  if (negative) {
    for (int64_t& limb : magnitude.limbs_) limb = -limb;
    magnitude.Normalise();
  }
  const bool zero =
      std::all_of(magnitude.limbs_.begin(), magnitude.limbs_.end(),
                  [](int64_t limb) { return limb == 0; });
  if (zero) return 0.0;
  return std::bit_cast<double>(RoundMagnitude(magnitude.limbs_) |
                               (negative ? kSignBit : 0));
}

std::array<int64_t, ExactSum::kWords> ExactSum::Words() const {
  ExactSum canonical = *this;
  canonical.Normalise();
  std::array<int64_t, kWords> words;
  std::copy(canonical.limbs_.begin(), canonical.limbs_.end(), words.begin());
  words[kLimbs] = nan_count_;
  words[kLimbs + 1] = positive_infinity_count_;
  words[kLimbs + 2] = negative_infinity_count_;
  return words;
}

ExactSum ExactSum::FromWords(std::span<const int64_t> words) {
  LS_CHECK_EQ(words.size(), size_t{kWords});
  ExactSum sum;
  std::copy_n(words.begin(), kLimbs, sum.limbs_.begin());
  sum.nan_count_ = words[kLimbs];
  sum.positive_infinity_count_ = words[kLimbs + 1];
  sum.negative_infinity_count_ = words[kLimbs + 2];
  sum.Normalise();
  return sum;
}

}  // namespace lockstep
