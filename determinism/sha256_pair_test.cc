// Pairs of digests against OpenSSL's and against published ones.

#include "determinism/sha256_pair.h"

#include <string>
#include <vector>

#include "determinism/sha256.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// With the CPU's instructions, where it has them, and without.
std::vector<bool> Ways() {
  return CpuHasSha256() ? std::vector<bool>{true, false}
                        : std::vector<bool>{false};
}

// FIPS 180-4 and NIST's examples, two of one length at a time.
TEST(Sha256PairTest, KnownAnswers) {
  const std::string abc = "abc", abd = "abd";
  const std::string million(1'000'000, 'a');
  const std::string two_blocks =
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const bool way : Ways()) {
    const auto hex = [&](const std::string& a, const std::string& b) {
      const auto pair = Sha256Pair(a.data(), b.data(), a.size(), way);
      return HexOf(pair[0]) + " " + HexOf(pair[1]);
    };
    const std::string empty =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    EXPECT_EQ(hex("", ""), empty + " " + empty);
    EXPECT_EQ(
        hex(abc, abd),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad "
        "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9");
    EXPECT_EQ(
        hex(two_blocks, two_blocks).substr(0, 64),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(
        hex(million, million).substr(65),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

// Every length around the ends of blocks, many others, unaligned, overlapping.
TEST(Sha256PairTest, EqualsOneAtATime) {
  std::string text(1 << 17, '\0');
  uint64_t state = 1;
  for (char& byte : text) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  int64_t compared = 0;
  for (size_t i = 0; i < 1000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const size_t bytes = i < 260 ? i : (state >> 40) % 60'000;
    const char* a = text.data() + (state >> 8) % 64;
    const char* b = a + (state >> 16) % 60'000;
    for (const bool way : Ways()) {
      const auto pair = Sha256Pair(a, b, bytes, way);
      EXPECT_EQ(HexOf(pair[0]), Sha256Hex({a, bytes})) << bytes;
      EXPECT_EQ(HexOf(pair[1]), Sha256Hex({b, bytes})) << bytes;
      compared += 2;
    }
  }
  EXPECT_EQ(compared, static_cast<int64_t>(2000 * Ways().size()));
}

// In pieces of whole blocks, side by side and alone, in any turns.
TEST(Sha256PairTest, PiecesOfTwoLengthsGiveTheSameDigests) {
  std::string text(5000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i * i + i / 7);
  }
  for (const bool way : Ways()) {
    for (const size_t more : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 1000u}) {
      Sha256PairStream stream(way);
      const char* const a = text.data();
      const char* const b = text.data() + 333;
      stream.UpdateOne(1, b, 128);
      stream.Update(a, b + 128, 640);
      EXPECT_EQ(HexOf(stream.Digest(0)), Sha256Hex({a, 640}));
      stream.UpdateOne(0, a + 640, more);
      stream.UpdateOne(1, b + 768, 64);
      stream.UpdateOne(1, b + 832, 0);
      stream.UpdateOne(1, b + 832, 2 * more);
      EXPECT_EQ(HexOf(stream.Digest(0)), Sha256Hex({a, 640 + more})) << more;
      EXPECT_EQ(HexOf(stream.Digest(1)), Sha256Hex({b, 832 + 2 * more}))
          << more;
    }
  }
}

TEST(Sha256PairTest, ABitOfOneMessageChangesItsDigestAlone) {
  for (const bool way : Ways()) {
    std::string a(300, 'x'), b(300, 'y');
    const auto before = Sha256Pair(a.data(), b.data(), 300, way);
    for (size_t at = 0; at < 300; ++at) {
      a[at] ^= 1;
      const auto after = Sha256Pair(a.data(), b.data(), 300, way);
      EXPECT_NE(after[0], before[0]) << at;
      EXPECT_EQ(after[1], before[1]) << at;
      a[at] ^= 1;
    }
  }
}

}  // namespace
}  // namespace lockstep
