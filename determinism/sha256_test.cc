// SHA-256 against published digests.

#include "determinism/sha256.h"

#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

// FIPS 180-4 and NIST's examples.
TEST(Sha256Test, KnownAnswers) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.Update(std::string(1000, 'a'));
  const std::string million =
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(hash.Hex(), million);
  EXPECT_EQ(hash.Hex(), million);  // asking does not end it
  hash.Update("b", 1);
  EXPECT_NE(hash.Hex(), million);
}

}  // namespace
}  // namespace lockstep
