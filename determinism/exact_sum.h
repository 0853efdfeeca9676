// A sum without rounding and without order (clause N6).
//
// For losses, norms and every scalar that ranks and threads add up together: a
// fixed-point accumulator over the whole range of binary64 (Kulisch, "Computer
// Arithmetic and Validity", 2013), kept as int64 words of 32 bits of value
// each, so that the words of several accumulators add up as plain integers
// (one all-reduce of int64) to the accumulator of the union. Rounds once, in
// Round(). Not for tensors: gradients use the integer grid of N5.

#ifndef DETERMINISM_EXACT_SUM_H_
#define DETERMINISM_EXACT_SUM_H_

#include <array>
#include <cstdint>
#include <span>

namespace lockstep {

class ExactSum {
 public:
  // Word i < kLimbs weighs 2^(32 i - 1088); then counts of NaN, +Inf, -Inf.
  static constexpr int kLimbs = 68;
  static constexpr int kWords = kLimbs + 3;

  // Exact for every finite value, subnormals included (nothing is flushed).
  void Add(double value);

  // Adds value * value, which binary64 holds exactly for normal squares; here
  // it is exact for all binary32.
  void AddSquare(float value) { AddSquares({&value, 1}); }

  // The same over an array, several elements a nanosecond or so.
  void AddSquares(std::span<const float> values);

  void Merge(const ExactSum& other);

  // Nearest binary64, ties to even, subnormals kept; an exact zero is +0. NaN
  // if a NaN or both infinities were added, else an added infinity.
  double Round() const;

  // Canonical: equal sums have equal words. Up to 2^30 of these arrays may be
  // added word by word and given to FromWords.
  std::array<int64_t, kWords> Words() const;
  static ExactSum FromWords(std::span<const int64_t> words);

 private:
  // Adds magnitude * 2^exponent, negated if asked; exponent >= -1088.
  void AddScaled(uint64_t magnitude, int exponent, bool negative);
  // Squared significands summed by biased exponent; bin 255 holds the counts of
  // NaN (low half) and infinity (high half).
  void AddSquareBins(const uint64_t (&bins)[256]);
  // Carries, so that all limbs but the last are in [0, 2^32).
  void Normalise();
  void CountAddition(int64_t additions);

  std::array<int64_t, kLimbs> limbs_ = {};
  int64_t nan_count_ = 0;
  int64_t positive_infinity_count_ = 0;
  int64_t negative_infinity_count_ = 0;
  int64_t additions_ = 0;  // since the last carry, each below 2^32 a limb
};

}  // namespace lockstep

#endif  // DETERMINISM_EXACT_SUM_H_
