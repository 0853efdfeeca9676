#include "determinism/check.h"

#include "gtest/gtest.h"

namespace lockstep {
namespace {

struct Opaque {
  int value;
  bool operator==(const Opaque&) const = default;
};

int NoCalls() { return 0; }

TEST(CheckTest, PassesAndEvaluatesOnce) {
  int calls = 0;
  auto next = [&calls] { return ++calls; };
  LS_CHECK(next() == 1) << "not printed " << next();
  LS_CHECK_EQ(next(), 2);
  LS_CHECK_NE(1, 2) << "never";
  LS_CHECK_LT(1, 2);
  LS_CHECK_LE(2, 2);
  LS_CHECK_GT(2, 1);
  LS_CHECK_GE(2, 2);
  LS_CHECK_EQ(Opaque{1}, Opaque{1});
  EXPECT_EQ(calls, 2);
}

TEST(CheckTest, NestsUnderAnIfWithoutBraces) {
  bool reached_else = false;
  const bool checked = NoCalls() > 0;
  if (checked)
    LS_CHECK_EQ(1, 2);
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(CheckDeathTest, SaysWhereWhatAndWhy) {
  EXPECT_DEATH(LS_CHECK(1 > 2) << "rank " << 3,
               "determinism/check_test.cc:[0-9]+: LS_CHECK.1 > 2. failed: "
               "rank 3");
}

TEST(CheckDeathTest, PrintsBothValues) {
  const int world = 8;
  EXPECT_DEATH(LS_CHECK_EQ(world, 4) << "ranks",
               "LS_CHECK_EQ.world, 4. .8 vs. 4. failed: ranks");
  EXPECT_DEATH(LS_CHECK_LT(world, 8), "LS_CHECK_LT.world, 8. .8 vs. 8.");
}

TEST(CheckDeathTest, AValueWithoutAPrinterIsStillCompared) {
  EXPECT_DEATH(LS_CHECK_EQ(Opaque{1}, Opaque{2}), "4 bytes. vs. .4 bytes");
}

}  // namespace
}  // namespace lockstep
