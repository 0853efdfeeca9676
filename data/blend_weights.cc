#include "data/blend_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Wide = unsigned __int128;

// Digits kept below the largest weight's first one. Where a weight reaches
// further the denominator passes 10^12 anyway.
constexpr int kDigits = 30;

struct Decimal {
  uint64_t digits = 0;  // the value is digits * 10^exponent
  int exponent = 0;
  int count = 0;  // of digits
};

// The shortest decimal that reads back as `value`, which is positive.
Decimal ToDecimal(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer),
                                          value, std::chars_format::scientific);
  LS_CHECK(error == std::errc());
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  Decimal result;
  for (const char c : text.substr(0, e)) {
    if (c == '.') {
      continue;
    }
    result.digits = result.digits * 10 + static_cast<uint64_t>(c - '0');
    ++result.count;
  }
  const size_t digits = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits, end, result.exponent);
  result.exponent -= result.count - 1;
  return result;
}

Wide Gcd(Wide a, Wide b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

struct Units {
  std::vector<Wide> of;  // the largest is below 10^31
  bool exact = true;
};

// The weights over one unit, a power of ten.
Units CommonUnits(std::span<const double> weights) {
  std::vector<Decimal> decimals(weights.size());
  int first = -1000, last = 1000;  // exponents of the first and last digit
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) {
      continue;
    }
    decimals[i] = ToDecimal(weights[i]);
    first = std::max(first, decimals[i].exponent + decimals[i].count - 1);
    last = std::min(last, decimals[i].exponent);
  }
  const int unit = std::max(last, first - kDigits);
  Units result = {std::vector<Wide>(weights.size()), unit == last};
  std::vector<Wide>& units = result.of;
  for (size_t i = 0; i < weights.size(); ++i) {
    units[i] = decimals[i].digits;
    for (int e = decimals[i].exponent; e > unit && units[i] != 0; --e) {
      units[i] *= 10;
    }
    for (int e = decimals[i].exponent; e < unit && units[i] != 0; ++e) {
      units[i] /= 10;
    }
  }
  return result;
}

BlendWeights RoundToLargest(const std::vector<Wide>& units, Wide sum) {
  BlendWeights result;
  result.period = kMaxBlendPeriod;
  result.rounded = true;
  uint64_t given = 0;
  for (const Wide u : units) {
    result.parts.push_back(static_cast<uint64_t>(u * kMaxBlendPeriod / sum));
    given += result.parts.back();
  }
  std::vector<size_t> by_remainder(units.size());
  std::iota(by_remainder.begin(), by_remainder.end(), size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](size_t a, size_t b) {
                     return units[a] * kMaxBlendPeriod % sum >
                            units[b] * kMaxBlendPeriod % sum;
                   });
  for (size_t i = 0; given < kMaxBlendPeriod; ++i, ++given) {
    ++result.parts[by_remainder[i]];
  }
  return result;
}

absl::Status CheckWeights(std::span<const double> weights) {
  if (weights.empty() || weights.size() > kMaxBlendSources) {
    return InputError(std::to_string(weights.size()) + " weights",
                      "data.source.weight",
                      "give between 1 and 65536 sources a weight each");
  }
  bool any = false;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      return InputError("a weight is negative or not finite",
                        "data.source." + std::to_string(i) + ".weight",
                        "give a number from 0 up");
    }
    any = any || weights[i] > 0;
  }
  return any ? absl::OkStatus()
             : InputError("all weights are zero", "data.source.weight",
                          "give at least one source a positive weight");
}

}  // namespace

absl::StatusOr<BlendWeights> MakeBlendWeights(std::span<const double> weights) {
  LS_RETURN_IF_ERROR(CheckWeights(weights));
  const auto [units, exact] = CommonUnits(weights);
  Wide divisor = 0, sum = 0;
  for (const Wide u : units) {
    divisor = Gcd(divisor, u);
    sum += u;
  }
  if (!exact || sum / divisor > kMaxBlendPeriod) {
    return RoundToLargest(units, sum);
  }
  BlendWeights result;
  result.period = static_cast<uint64_t>(sum / divisor);
  for (const Wide u : units) {
    result.parts.push_back(static_cast<uint64_t>(u / divisor));
  }
  return result;
}

}  // namespace lockstep
