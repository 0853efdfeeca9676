// The resolved text and its two hashes: one recipe, one text, however written;
// and the trajectory's hash moves with what can move the bits, and only so.

#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "recipes/recipe.h"
#include "recipes/test_sections.h"

namespace lockstep {
namespace {

using recipes_test::All;
using recipes_test::Sound;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlain[] =
    "seed = 7\n"
    "[batch]\n"
    "global = 32\n"
    "micro = 4\n"
    "[model]\n"
    "hidden = 64\n"
    "dropout = 0.25\n"
    "[optimizer]\n"
    "lr = 0.003\n"
    "betas = [0.9, 0.99]\n"
    "[[data.source]]\n"
    "path = \"a\"\n";

TEST(ResolvedText, IsSortedAndHoldsEveryDefault) {
  EXPECT_EQ(Sound(kPlain).ResolvedText(),
            "batch.global = 32\n"
            "batch.micro = 4\n"
            "checkpoint.async = true\n"
            "checkpoint.every = 100\n"
            "data.source.0.path = \"a\"\n"
            "data.source.0.weight = 1.0\n"
            "guarantee = \"bitwise\"\n"
            "model.cuts = []\n"
            "model.dropout = 0.25\n"
            "model.head_dim = none\n"
            "model.hidden = 64\n"
            "optimizer.betas = [0.9, 0.99]\n"
            "optimizer.lr = 0.003\n"
            "optimizer.mode = \"fp32\"\n"
            "optimizer.weight_decay = 0.1\n"
            "seed = 7\n");
}

TEST(Hashes, AreOfTheTextAndPrintedInFull) {
  const Recipe recipe = Sound(kPlain);
  EXPECT_EQ(recipe.FullHash().size(), 64u);
  EXPECT_NE(recipe.FullHash(), recipe.TrajectoryHash());
  EXPECT_THAT(recipe.TrajectoryText(), Not(HasSubstr("batch.micro")));
  EXPECT_THAT(recipe.TrajectoryText(), Not(HasSubstr("checkpoint.")));
}

TEST(Hashes, DoNotSeeHowARecipeIsWritten) {
  const Recipe plain = Sound(kPlain);
  const std::vector<std::string> others = {
      // Comments, order, spaces, dotted keys, other forms of the same numbers.
      "# a comment\nseed=0x7\noptimizer.betas=[ 0.9,\n 0.990, ]\r\n"
      "optimizer.lr = 3e-3 # peak\nbatch = {micro = 4, global = 3_2}\n"
      "data.source = [{path = 'a'}]\n[model]\n\tdropout=2.5E-1\nhidden=64\n",
      // A default said aloud.
      std::string(kPlain) + "weight = 1\n[checkpoint]\nevery = 100\n",
  };
  for (const std::string& other : others) {
    EXPECT_EQ(Sound(other).ResolvedText(), plain.ResolvedText()) << other;
    EXPECT_EQ(Sound(other).FullHash(), plain.FullHash());
    EXPECT_EQ(Sound(other).TrajectoryHash(), plain.TrajectoryHash());
  }
}

TEST(Hashes, TheTrajectoryMovesWithItsOwnKeysOnly) {
  const Recipe plain = Sound(kPlain);
  for (const char* set :
       {"batch.micro=8", "checkpoint.every=5", "checkpoint.async=false"}) {
    const Recipe other = Sound(kPlain, {set});
    EXPECT_EQ(other.TrajectoryHash(), plain.TrajectoryHash()) << set;
    EXPECT_NE(other.FullHash(), plain.FullHash()) << set;
  }
  for (const char* set :
       {"seed=8", "batch.global=16", "model.dropout=0.26",
        "optimizer.betas=[0.9, 0.98]", "data.source.0.weight=2",
        "guarantee=layout_invariant", "model.head_dim=16",
        "optimizer.lr=0.0030000000000000005"}) {
    const Recipe other = Sound(kPlain, {set});
    EXPECT_NE(other.TrajectoryHash(), plain.TrajectoryHash()) << set;
    EXPECT_NE(other.FullHash(), plain.FullHash()) << set;
  }
}

// A longer run keeps the length that its schedule was made with.
TEST(Hashes, ADerivedValueIsInTheTrajectoryAndCanBeKept) {
  Recipe plain = Sound(kPlain);
  const std::string without = plain.TrajectoryHash();
  plain.Derive("schedule", "samples", 640);
  const std::string first = plain.TrajectoryHash();
  EXPECT_NE(first, without);
  EXPECT_THAT(plain.ResolvedText(), HasSubstr("\nschedule.samples = 640\n"));
  plain.Derive("schedule", "samples", 1280);
  EXPECT_NE(plain.TrajectoryHash(), first);
  plain.Derive("schedule", "samples", 640, "manifest");
  EXPECT_EQ(plain.TrajectoryHash(), first);
}

TEST(ResolvedText, RealsComeBackToTheBit) {
  const char* const kHard[] = {"0.1",
                               "3e-3",
                               "1.7976931348623157e308",
                               "2.2250738585072014e-308",
                               "9007199254740993.0",
                               "0.30000000000000004",
                               "1e23",
                               "8.41e21",
                               "5e-324"};
  int64_t compared = 0;
  for (const char* text : kHard) {
    double expected = 0;
    std::from_chars(text, text + std::strlen(text), expected);
    if (expected < 2.3e-308 && expected != 2.2250738585072014e-308) {
      continue;  // refused, and tested as such
    }
    All all;
    const Recipe recipe =
        Sound("optimizer.lr = " + std::string(text) + "\n", {}, &all);
    for (const RecipeEntry& entry : recipe.Entries()) {
      if (entry.path() == "optimizer.lr") {
        double back = 0;
        std::from_chars(entry.value.data(),
                        entry.value.data() + entry.value.size(), back);
        EXPECT_EQ(std::memcmp(&back, &expected, 8), 0) << text;
        EXPECT_EQ(std::memcmp(&all.optimizer.lr, &expected, 8), 0) << text;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 8);
}

TEST(Diff, TellsKeyBothValuesAndWhetherBitsCanMove) {
  const Recipe left = Sound(kPlain);
  const Recipe right = Sound(
      kPlain, {"batch.micro=8", "optimizer.lr=0.1", "data.source.1.path=b"});
  const std::vector<RecipeDifference> differences = Diff(left, right);
  ASSERT_EQ(differences.size(), 4u);
  EXPECT_EQ(differences[0].path, "batch.micro");
  EXPECT_EQ(differences[0].left, "4");
  EXPECT_EQ(differences[0].right, "8");
  EXPECT_FALSE(differences[0].trajectory);
  EXPECT_EQ(differences[1].path, "data.source.1.path");
  EXPECT_EQ(differences[1].left, "(absent)");
  EXPECT_EQ(differences[1].right, "\"b\"");
  EXPECT_EQ(differences[2].path, "data.source.1.weight");
  EXPECT_EQ(differences[3].path, "optimizer.lr");
  EXPECT_EQ(differences[3].left, "0.003");
  EXPECT_TRUE(differences[3].trajectory);
  EXPECT_TRUE(Diff(left, left).empty());
}

TEST(HelpText, HasEveryKeyOnce) {
  const Recipe recipe = Sound(kPlain);
  const std::string help = recipe.HelpText();
  EXPECT_THAT(help, HasSubstr("[batch]\n"
                              "  global = 16\n"
                              "      samples a step; an integer >= 1 and <= "
                              "4096\n"
                              "  micro = 2\n"
                              "      samples a micro-batch; an integer >= 1; "
                              "not in the trajectory\n"));
  EXPECT_THAT(help, HasSubstr("  hidden = required\n"));
  EXPECT_THAT(help, HasSubstr("  head_dim = none\n"));
  EXPECT_THAT(help, HasSubstr("(reserved: \"mxfp8\")"));
  EXPECT_THAT(help, HasSubstr("[[data.source]]\n  path = \"\"\n"));
  EXPECT_THAT(help, Not(HasSubstr("source.0")));
}

}  // namespace
}  // namespace lockstep
