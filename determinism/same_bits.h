// Equality of bytes, for tests: how many were compared, how many differ, and
// the first difference with both values in hex.
//
// The one comparison that numerics tests use; +0 and -0 differ. Not for
// tolerances. NanClass::kOne treats all NaNs as one value, the only exception
// that the contract knows (NaNs made by arithmetic).

#ifndef DETERMINISM_SAME_BITS_H_
#define DETERMINISM_SAME_BITS_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "gtest/gtest.h"

namespace lockstep {

enum class NanClass { kBytes, kOne };

// EXPECT_TRUE(SameBits<float>(got, want)); an empty comparison fails, since it
// tests nothing.
template <class T>
testing::AssertionResult SameBits(std::span<const T> got,
                                  std::span<const T> want,
                                  NanClass nans = NanClass::kBytes) {
  if (got.size() != want.size() || got.empty()) {
    return testing::AssertionFailure()
           << got.size() << " values against " << want.size();
  }
  int64_t different = 0;
  size_t first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    if (nans == NanClass::kOne && got[i] != got[i] && want[i] != want[i]) {
      continue;
    }
    if (different++ == 0) first = i;
  }
  if (different == 0) return testing::AssertionSuccess();
  const auto hex = [](const T& value) {
    std::string text = "0x";
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (size_t i = sizeof(T); i-- > 0;) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
      text += digits;
    }
    return text;
  };
  return testing::AssertionFailure()
         << different << " of " << got.size() << " differ, first at " << first
         << ": " << hex(got[first]) << ", wanted " << hex(want[first]);
}

}  // namespace lockstep

#endif  // DETERMINISM_SAME_BITS_H_
