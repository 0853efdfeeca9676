// The run's length is one value with three names: a stronger place's wins.

#include "recipes/one_of.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace {

struct Lengths {
  std::optional<int64_t> steps, samples, tokens;
};

void DescribeSection(Section& section, Lengths& lengths) {
  section.Int("steps", lengths.steps, {.help = "one"});
  section.Int("samples", lengths.samples, {.help = "of"});
  section.Int("tokens", lengths.tokens, {.help = "three"});
}

// "5 - -": steps, samples, tokens; and how many settings the recipe says lost.
std::string LengthsOf(const std::string& text,
                      const std::vector<std::string>& sets) {
  auto recipe = Recipe::FromText(text, "r.toml", sets);
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  const auto lengths = recipe->Read<Lengths>("train");
  EXPECT_TRUE(recipe->Finish().ok()) << recipe->Finish();
  std::string all;
  for (const auto& value : {lengths.steps, lengths.samples, lengths.tokens}) {
    all += (value ? std::to_string(*value) : "-") + " ";
  }
  return all + "lost " + std::to_string(recipe->Conflicts().size());
}

TEST(OneOf, ASetLengthTakesThePlaceOfTheFiles) {
  const std::string steps = "[train]\nsteps = 5\n";
  EXPECT_EQ(LengthsOf(steps, {}), "5 - - lost 0");
  EXPECT_EQ(LengthsOf(steps, {"train.steps=6"}), "6 - - lost 1");
  EXPECT_EQ(LengthsOf(steps, {"train.samples=7"}), "- 7 - lost 1");
  EXPECT_EQ(LengthsOf(steps, {"train.tokens=8"}), "- - 8 lost 1");
  EXPECT_EQ(LengthsOf("", {"train.tokens=8"}), "- - 8 lost 0");
  // Two of one place: for the reader of the section to refuse.
  EXPECT_EQ(LengthsOf(steps, {"train.samples=7", "train.tokens=8"}),
            "- 7 8 lost 1");
  EXPECT_EQ(LengthsOf(steps + "tokens = 9\n", {}), "5 - 9 lost 0");
  EXPECT_EQ(LengthsOf(steps + "tokens = 9\n", {"train.samples=7"}),
            "- 7 - lost 2");
}

Value LengthOf(const std::string& key, int64_t value) {
  Value number, section, root;
  number.kind = Value::Kind::kInt;
  number.integer = value;
  section.members.emplace(key, number);
  root.members.emplace("train", section);
  return root;
}

TEST(OneOf, AFilesLengthTakesThePlaceOfWhatItExtends) {
  Value base = LengthOf("steps", 5);
  Overridden overridden;
  PutOutOthers(LengthOf("recompute", 1), base, overridden);
  EXPECT_NE(base.Member("train")->Member("steps"), nullptr);
  EXPECT_TRUE(overridden.empty());
  PutOutOthers(LengthOf("tokens", 9), base, overridden);
  EXPECT_EQ(base.Member("train")->Member("steps"), nullptr);
  EXPECT_EQ(overridden.count("train.steps"), 1u);
}

}  // namespace
}  // namespace lockstep
