// The parts below a recipe: distances, texts of values, positions.

#include <string>

#include "gtest/gtest.h"
#include "recipes/suggest.h"
#include "recipes/toml_reader.h"
#include "recipes/value.h"

namespace lockstep {
namespace {

TEST(WordDistance, CountsEditsAndForgivesCaseAndHyphens) {
  EXPECT_EQ(WordDistance("", "abc"), 3);
  EXPECT_EQ(WordDistance("kitten", "sitting"), 3);
  EXPECT_EQ(WordDistance("wieght", "weight"), 1);
  EXPECT_EQ(WordDistance("Weight-Decay", "weight_decay"), 0);
}

TEST(Suggest, PrefersTheSectionThenTheRightKeyElsewhere) {
  const std::vector<std::string> known = {"a.lr", "b.rl", "b.every", "c.every"};
  EXPECT_EQ(SuggestKey("c", "evry", known), "did you mean c.every?");
  EXPECT_EQ(SuggestKey("b", "lr", known), "did you mean a.lr?");
  EXPECT_EQ(SuggestKey("a", "everyy", known), "did you mean b.every?");
  EXPECT_EQ(SuggestKey("c", "qqqqqq", known), "nearest valid key: c.every");
  EXPECT_EQ(SuggestKey("c", "x", {}), "");
}

TEST(CanonicalText, OfEachKind) {
  const Value table = *ParseToml(
      "a = 1\nb = 1.0\nc = \"q\\\"\\\\\\n\\t\\u0001\"\nd = [1, [true]]\n"
      "e = {y = 1, x = -inf}\nf = 1e300\ng = 1e5\n",
      "t");
  EXPECT_EQ(CanonicalText(table),
            "{a = 1, b = 1.0, c = \"q\\\"\\\\\\n\\t\\u0001\", d = [1, [true]], "
            "e = {x = -inf, y = 1}, f = 1e+300, g = 1e+05}");
}

TEST(ParseToml, KnowsTheLineOfEachValue) {
  const Value root = *ParseToml(
      "# \xc3\xa9\n[t]\nx = \"\xc3\xa9\xe2\x82\xac\"\n[[l]]\ny = 1\n[[l]]\n"
      "y = [1,\n2]\n",
      "t");
  EXPECT_EQ(root.Member("t")->origin.line, 2);
  EXPECT_EQ(root.Member("t")->Member("x")->origin.line, 3);
  const Value& second = root.Member("l")->items.at(1);
  EXPECT_EQ(second.origin.line, 6);
  EXPECT_EQ(second.Member("y")->items.at(1).origin.line, 8);
}

// Columns count code points, and the number behind two wide letters is found.
TEST(ParseToml, SeesUnderflowBehindWideLetters) {
  const Value root = *ParseToml(
      "a = [\"\xc3\xa9\xe2\x82\xac\", 1e-400, 0e5, +1_0.5e-320, 0.0, -0.0]\n",
      "t");
  const std::vector<Value>& items = root.Member("a")->items;
  ASSERT_EQ(items.size(), 6u);
  EXPECT_TRUE(items[1].underflow);
  EXPECT_FALSE(items[2].underflow);
  EXPECT_EQ(items[2].real, 0.0);
  EXPECT_TRUE(items[3].underflow);
  EXPECT_FALSE(items[4].underflow);
  EXPECT_FALSE(items[5].underflow);
}

}  // namespace
}  // namespace lockstep
