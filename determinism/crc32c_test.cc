#include "determinism/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(Crc32cTest, MeetsTheTestVectorsOfRfc3720) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
}

TEST(Crc32cTest, TheInstructionAndTheTableAgree) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Crc32c(text), Crc32cByTable(text)) << i;
    EXPECT_EQ(Crc32c(text, 7), Crc32cByTable(text, 7)) << i;
    text.push_back(static_cast<char>(i * 37));
  }
}

}  // namespace
}  // namespace lockstep
