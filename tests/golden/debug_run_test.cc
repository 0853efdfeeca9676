// N1: the committed bits of debug.toml, on this machine at each of its levels.
#include "tests/golden/debug_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lockstep {
namespace {

Json Committed() {
  std::ifstream file("tests/golden/debug_run.json");
  return Json::parse(file);
}

using ModeAndLevel = std::tuple<std::string, Isa>;

class DebugRunTest : public testing::TestWithParam<ModeAndLevel> {};

TEST_P(DebugRunTest, N1GivesTheCommittedBits) {
  const auto& [mode, isa] = GetParam();
  if (!IsaPresent(isa)) GTEST_SKIP() << "no " << NameOf(isa) << " here";
  const std::vector<std::string> differences =
      GoldenDifferences(Committed()[mode], RecordDebugRun(mode, isa));
  EXPECT_TRUE(differences.empty())
      << "debug.toml in " << mode << " at " << NameOf(isa)
      << " gives other bits than committed:\n  "
      << absl::StrJoin(differences, "\n  ")
      << "\nEither this machine, compiler or change computes wrongly "
         "(`lockstep doctor` looks at the machine), or numbers were changed "
         "on purpose: then write the file anew (debug_run_main.cc) and let the "
         "commit say which clause changed and why.";
}

std::string NameOfCase(const testing::TestParamInfo<ModeAndLevel>& info) {
  return absl::StrCat(std::get<0>(info.param), "_",
                      NameOf(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(
    All, DebugRunTest,
    testing::Combine(testing::ValuesIn(GoldenModes()),
                     testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512,
                                     Isa::kAmx)),
    NameOfCase);

// One bit of one activation in step 5: seen there, not before.
TEST(DebugRunCanaryTest, AFlippedBitIsSeen) {
  const std::vector<std::string> differences = GoldenDifferences(
      Committed()["bf16"],
      RecordDebugRun("bf16", BestIsa(),
                     {"kind=flip,step=5,at=layers.2.mixer.in_proj.forward,"
                      "element=123,bit=9"}));
  ASSERT_EQ(differences.size(), 4u) << absl::StrJoin(differences, "\n");
  EXPECT_NE(differences[0].find("step 5: loss_bits"), std::string::npos);
  EXPECT_NE(differences[3].find("step 20: params"), std::string::npos);
}

TEST(DebugRunCanaryTest, OtherDataAndNothingAreSeen) {
  const Json want = Committed()["fp32"];
  Json got = want;
  EXPECT_TRUE(GoldenDifferences(want, got).empty());
  got[1]["data"] = "0";
  got[1]["params"] = "0";
  const std::vector<std::string> other = GoldenDifferences(want, got);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_NE(other[0].find("GPL-3"), std::string::npos);
  EXPECT_FALSE(GoldenDifferences(Json::array(), Json::array()).empty());
}

}  // namespace
}  // namespace lockstep
