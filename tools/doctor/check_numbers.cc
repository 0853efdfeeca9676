// Elementary functions, random numbers, exact sums, fingerprints.
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/exact_sum.h"
#include "determinism/fingerprint.h"
#include "determinism/philox.h"
#include "determinism/philox_known_answers.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/functions_kernel.h"

namespace lockstep {
namespace {

struct Golden {
  const char* name;
  const char* fingerprint;  // of the values at every 65,537th binary32
};
constexpr Golden kFunctions[kElementaryFunctions] = {
    {"exp", "472bc46f070d5e2306e50a900a134959"},
    {"log", "5c8e88301403b20ed12a24b40e52797c"},
    {"log1p", "5812a95ebbf00a96ba7f398f20f7a2de"},
    {"sigmoid", "13b4ff0cbe522ec5ea57003ef0e57c9d"},
    {"softplus", "ab11182f9b10d4f86121a33b6833d01a"},
    {"tanh", "5ee35014204de4c01b4d1114caba05b2"},
    {"rsqrt", "521dc82c55af78be4c0927d7bd1fd9d8"},
    {"sin", "ea32336d5beb8375d93c9f401ffa9e61"},
    {"cos", "ee8ea36fc09366370c7e93a164115bbb"}};

std::vector<float> Arguments() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65'537) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return x;
}

std::string FingerprintOf(std::vector<float>& values) {
  for (float& value : values) {
    if (value != value) value = std::bit_cast<float>(0x7fc00000u);
  }
  return FingerprintBytes(values.data(), 4 * values.size()).Hex();
}

// The sum is known, and binary64 loses it in each of the given orders.
struct KnownSum {
  std::array<double, 4> terms;
  double sum;
};
constexpr KnownSum kSums[] = {
    {{1e308, 1.0, -1e308, 0x1p-60}, 0x1.0000000000000p0 + 0x1p-60},
    {{0x1p60, 0x1p-60, -0x1p60, 0.0}, 0x1p-60},
    {{1.0, 0x1p-53, 0x1p-53, 0x1p-900}, 0x1.0000000000001p0}};

double Sum(const KnownSum& known, int rotation, bool broken) {
  ExactSum first, second;
  double plain = 0;
  for (int i = 0; i < 4; ++i) {
    const double term = known.terms[(i + rotation) % 4];
    (i % 2 == 0 ? first : second).Add(term);
    plain += term;
  }
  second.Merge(first);
  return broken ? plain : ExactSum::FromWords(second.Words()).Round();
}

}  // namespace

CheckResult CheckFunctions(const Examination& e) {
  CheckResult result;
  const std::vector<float> x = Arguments();
  const auto variants = LS_KERNEL_VARIANTS(EvaluateFunction, "functions", "");
  const std::vector<Isa> levels =
      e.broken ? std::vector<Isa>{e.isa} : PresentIsas();
  for (int f = 0; f < kElementaryFunctions; ++f) {
    for (const Isa isa : levels) {
      std::vector<float> y(x.size());
      variants.For(isa)(f, x.data(), y.data(), static_cast<int64_t>(x.size()));
      if (e.broken) {
        ++result.injected;
        y[12'345] =
            std::bit_cast<float>(std::bit_cast<uint32_t>(y[12'345]) ^ 1u);
      }
      const std::string got = FingerprintOf(y);
      if (got == kFunctions[f].fingerprint) continue;
      result.faults.push_back(
          absl::StrCat(kFunctions[f].name, " at ", NameOf(isa), ": ", got,
                       ", committed is ", kFunctions[f].fingerprint));
    }
  }
  result.summary = absl::StrCat(kElementaryFunctions, " functions of ",
                                x.size(), " values at ", levels.size(),
                                " levels, against golden bits");
  return result;
}

CheckResult CheckRandom(const Examination& e) {
  CheckResult result;
  for (const PhiloxKnownAnswer& known : kPhiloxKnownAnswers) {
    std::array<uint32_t, 4> counter = known.counter;
    if (e.broken) {
      ++result.injected;
      counter[0] ^= 1;
    }
    if (Philox4x32(counter, known.key) == known.result) continue;
    result.faults.push_back(
        absl::StrCat("Philox of counter ", known.counter[0], " is wrong"));
  }
  std::vector<uint32_t> filled(4099);
  FillRandomU32(7, {Stream::kTest, 1, 2, 3}, filled);
  int64_t wrong = 0;
  for (size_t i = 0; i < filled.size(); ++i) {
    wrong += filled[i] != RandomU32(7, {Stream::kTest, 1, 2, 3 + i});
  }
  if (wrong != 0) {
    result.faults.push_back(absl::StrCat(
        wrong, " of ", filled.size(), " numbers differ when drawn in a row"));
  }
  result.summary =
      absl::StrCat(std::size(kPhiloxKnownAnswers), " known answers, ",
                   filled.size(), " draws alone and in a row");
  return result;
}

CheckResult CheckExactSums(const Examination& e) {
  CheckResult result;
  for (const KnownSum& known : kSums) {
    int64_t wrong = 0;
    for (int rotation = 0; rotation < 4; ++rotation) {
      const double sum = Sum(known, rotation, e.broken);
      if (sum != known.sum) ++wrong;
    }
    result.injected += e.broken ? 1 : 0;
    if (wrong != 0) {
      result.faults.push_back(
          absl::StrCat(wrong, " of 4 orders do not give ", known.sum));
    }
  }
  result.summary = absl::StrCat(std::size(kSums),
                                " sums beyond binary64, each in 4 orders, in "
                                "two parts");
  return result;
}

CheckResult CheckFingerprints(const Examination& e) {
  constexpr char kGolden[] = "32fd9635068c54872cccb320d5193e73";
  CheckResult result;
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < 4099; ++i) words.push_back(i * 2654435761u);
  if (e.broken) {
    result.injected = 2;
    std::swap(words[1000], words[1001]);
  }
  const size_t bytes = 4 * words.size();
  const char* data = reinterpret_cast<const char*>(words.data());
  const std::string whole = FingerprintBytes(data, bytes).Hex();
  Fingerprint parts;
  for (size_t begin = 0; begin < bytes; begin += 1003) {
    parts += FingerprintBytes(data + begin,
                              std::min<size_t>(1003, bytes - begin), begin);
  }
  if (whole != kGolden) {
    result.faults.push_back(
        absl::StrCat("whole: ", whole, ", committed is ", kGolden));
  }
  if (parts.Hex() != kGolden) {
    result.faults.push_back(
        absl::StrCat("in parts: ", parts.Hex(), ", committed is ", kGolden));
  }
  result.summary = absl::StrCat(bytes, " bytes, whole and in parts of 1003");
  return result;
}

}  // namespace lockstep
