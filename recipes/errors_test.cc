// What a wrong recipe says. A trainer that goes on with a default where the
// user wrote a misspelt key has wasted weeks elsewhere
// (unslothai/unsloth#10452), and one that tells a single error a launch, days
// (mosaicml/llm-foundry#1344).

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "recipes/recipe.h"
#include "recipes/test_sections.h"

namespace lockstep {
namespace {

using recipes_test::MessageOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kModel[] = "[model]\nhidden = 64\n";

std::string WithModel(const std::string& text) { return text + kModel; }

TEST(Errors, NoneInASoundRecipe) {
  EXPECT_EQ(MessageOf(WithModel("seed = 3\n")), "");
}

TEST(Errors, ThreeWrongKeysAreToldInOneMessage) {
  EXPECT_EQ(
      MessageOf("[batch]\n"
                "glbal = 8\n"
                "micro = 0\n"
                "[model]\n"
                "hidden = 64\n"
                "dropout = \"0.5\"\n"),
      "3 errors in t.toml\n"
      "  t.toml:2: batch.glbal: unknown key; did you mean batch.global?\n"
      "  t.toml:3: batch.micro = 0: must be an integer >= 1; nearest valid "
      "value: 1\n"
      "  t.toml:6: model.dropout = \"0.5\": expected a real >= 0.0 and < "
      "1.0, got a string; nearest valid value: 0.5");
}

struct Case {
  std::string text;
  std::string error;  // of the message's only error line
};

class OneError : public ::testing::TestWithParam<Case> {};

TEST_P(OneError, IsToldWithPlaceAndRemedy) {
  const std::string message = MessageOf(WithModel(GetParam().text));
  EXPECT_EQ(message, "1 error in t.toml\n  " + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, OneError,
    ::testing::Values(
        Case{"[optimizer]\nweight-decay = 0.1\n",
             "t.toml:2: optimizer.weight-decay: unknown key; did you mean "
             "optimizer.weight_decay?"},
        Case{"[batch]\nlr = 0.1\n",
             "t.toml:2: batch.lr: unknown key; did you mean optimizer.lr?"},
        Case{
            "learning_rate = 0.1\n",
            "t.toml:1: learning_rate: unknown key; did you mean optimizer.lr?"},
        Case{"[batch]\nguarantee = \"bitwise\"\n",
             "t.toml:2: batch.guarantee: unknown key; did you mean guarantee?"},
        Case{"[checkpoint]\nzzz = 1\n",
             "t.toml:2: checkpoint.zzz: unknown key; nearest valid key: "
             "checkpoint.every"},
        Case{"[optimiser]\nlr = 0.1\n",
             "t.toml:1: [optimiser]: unknown section; did you mean "
             "[optimizer]?"},
        Case{"[watchdog]\nx = 1\n",
             "t.toml:1: [watchdog]: unknown section; nearest valid section: "
             "[batch]"},
        Case{"batch = 8\n",
             "t.toml:1: batch = 8: expected a table [batch], got an integer"},
        Case{"batch = [1]\n",
             "t.toml:1: batch = [1]: expected a table [batch], got a list"},
        Case{"[[data.source]]\npath = \"a\"\nwieght = 2.0\n",
             "t.toml:3: data.source.0.wieght: unknown key; did you mean weight "
             "in [[data.source]]?"},
        Case{"[batch]\nweight = 2.0\n",
             "t.toml:2: batch.weight: unknown key; did you mean weight in "
             "[[data.source]]?"},
        Case{"[data]\nsource = \"a\"\n",
             "t.toml:2: data.source = \"a\": expected tables [[data.source]], "
             "got a string"}));

INSTANTIATE_TEST_SUITE_P(
    Values, OneError,
    ::testing::Values(
        Case{"[batch]\nmicro = 4.0\n",
             "t.toml:2: batch.micro = 4.0: expected an integer >= 1, got a "
             "real; "
             "nearest valid value: 4"},
        Case{"[batch]\nglobal = \"8\"\n",
             "t.toml:2: batch.global = \"8\": expected an integer >= 1 and <= "
             "4096, got a string; nearest valid value: 8"},
        Case{"[batch]\nglobal = true\n",
             "t.toml:2: batch.global = true: expected an integer >= 1 and <= "
             "4096, got a boolean; default: 16"},
        Case{"[batch]\nglobal = 5000\n",
             "t.toml:2: batch.global = 5000: must be an integer >= 1 and <= "
             "4096; nearest valid value: 4096"},
        Case{"[batch]\nmicro = 3\n",
             "t.toml:2: batch.micro = 3: does not divide batch.global; nearest "
             "valid value: 1"},
        Case{"[batch]\nglobal = 15\n",
             "t.toml:1: batch.micro = 2 (default): does not divide "
             "batch.global; nearest valid value: 1"},
        Case{"[checkpoint]\nasync = \"ture\"\n",
             "t.toml:2: checkpoint.async = \"ture\": expected true or false, "
             "got a string; nearest valid value: true"},
        Case{"guarantee = \"bit-wise\"\n",
             "t.toml:1: guarantee = \"bit-wise\": must be one of "
             "\"statistical\", \"state_exact\", \"bitwise\", "
             "\"layout_invariant\"; nearest valid value: \"bitwise\""},
        Case{"[optimizer]\nlr = nan\n",
             "t.toml:2: optimizer.lr = nan: must be a real > 0.0, not NaN; "
             "default: 0.001"},
        Case{"[optimizer]\nlr = inf\n",
             "t.toml:2: optimizer.lr = inf: must be a real > 0.0, finite; "
             "nearest valid value: 1.7976931348623157e+308"},
        Case{
            "[optimizer]\nlr = 1e-400\n",
            "t.toml:2: optimizer.lr = 1e-400: is nearer to zero than a real "
            "holds (2.2250738585072014e-308), and would be zero; nearest valid "
            "value: 2.2250738585072014e-308"},
        Case{"[optimizer]\nweight_decay = -1e-310\n",
             "t.toml:2: optimizer.weight_decay = -1e-310: is nearer to zero "
             "than a real holds (2.2250738585072014e-308), and would be zero; "
             "nearest valid value: 0.0"},
        Case{"[optimizer]\nlr = 0\n",
             "t.toml:2: optimizer.lr = 0: must be a real > 0.0; nearest valid "
             "value: 2.2250738585072014e-308"},
        Case{"[optimizer]\nlr = 9007199254740993\n",
             "t.toml:2: optimizer.lr = 9007199254740993: is an integer that a "
             "real cannot hold; nearest valid value: 9007199254740992.0"},
        Case{"[optimizer]\nbetas = [0.9]\n",
             "t.toml:2: optimizer.betas = [0.9]: has 1 items; nearest valid "
             "count: 2; default: [0.9, 0.95]"},
        Case{
            "[optimizer]\nbetas = [0.9,\n1.0]\n",
            "t.toml:2: optimizer.betas = [0.9, 1.0]: item 1: must be a real >= "
            "0.0 and < 1.0; nearest valid value: 0.9999999999999999"},
        Case{"[optimizer]\nmode = \"mxfp8\"\n",
             "t.toml:2: optimizer.mode = \"mxfp8\": not built yet; nearest "
             "valid "
             "value: \"fp32\""},
        Case{
            "seed = 1979-05-27\n",
            "t.toml:1: seed = 1979-05-27: expected an integer >= 0, got a date "
            "or time; default: 1"}));

TEST(Errors, AKeyWithoutAValidDefaultIsRequired) {
  EXPECT_EQ(MessageOf("seed = 1\n"),
            "1 error in t.toml\n  t.toml: model.hidden = 0 (default): is "
            "required: an integer >= 32, a multiple of 32");
}

TEST(Errors, AReservedKeyIsRefusedWhateverItsValue) {
  EXPECT_EQ(MessageOf("[model]\nhidden = 64\ntie = false\n"),
            "1 error in t.toml\n  t.toml:3: model.tie = false: not built yet; "
            "leave the key out");
}

TEST(Errors, NearestMultipleStaysInRange) {
  EXPECT_THAT(MessageOf("[model]\nhidden = 81\n"),
              HasSubstr("nearest valid value: 96"));
  EXPECT_THAT(MessageOf("[model]\nhidden = -7\n"),
              HasSubstr("nearest valid value: 32"));
  EXPECT_THAT(MessageOf("[model]\nhidden = 9223372036854775807\n"),
              HasSubstr("nearest valid value: 9223372036854775776"));
}

TEST(Errors, NotTomlIsToldWithItsLine) {
  EXPECT_THAT(MessageOf("[model]\nhidden = 64\nhidden = 32\n"),
              StartsWith("t.toml:3: given twice: integer 'hidden' exists"));
  EXPECT_THAT(MessageOf("[batch]\n[model]\nhidden = 64\n[batch]\n"),
              StartsWith("t.toml:4: given twice: table 'batch' exists"));
  EXPECT_THAT(MessageOf("[model]\nhidden 64\n"),
              StartsWith("t.toml:2: not TOML: "));
  EXPECT_THAT(MessageOf("[model]\nhidden = [1,\n"),
              StartsWith("t.toml:2: not TOML: "));
  EXPECT_THAT(MessageOf("seed = 99999999999999999999\n"),
              HasSubstr("not representable in 64 bits"));
  EXPECT_THAT(MessageOf("seed = 1e999\n"), StartsWith("t.toml:1: not TOML: "));
  EXPECT_THAT(MessageOf("x = \"\xff\"\n"), StartsWith("t.toml:1: not TOML: "));
  EXPECT_THAT(MessageOf(std::string(3000, '[')),
              StartsWith("t.toml:1: not TOML: "));
}

TEST(Errors, OfTheCommandLineStandWithThoseOfTheFile) {
  EXPECT_EQ(
      MessageOf("[batch]\nmicro = 0\n[model]\nhidden = 64\n",
                {"batch.global=4x", "optimizer.lrr=1", "nonsense"}),
      "4 errors in t.toml\n"
      "  t.toml:2: batch.micro = 0: must be an integer >= 1; nearest valid "
      "value: 1\n"
      "  --set nonsense: no '='; write section.key=value\n"
      "  --set batch.global=4x: batch.global = \"4x\": expected an integer >= "
      "1 "
      "and <= 4096, got a string; default: 16\n"
      "  --set optimizer.lrr=1: optimizer.lrr: unknown key; did you mean "
      "optimizer.lr?");
}

TEST(Errors, TheCallersOwnHaveAPlaceToo) {
  Recipe recipe = *Recipe::FromText("[batch]\n\nglobal = 8\n", "t.toml");
  recipe.Read<recipes_test::BatchConfig>("batch");
  EXPECT_TRUE(recipe.Finish().ok());
  recipe.Error("batch", "global", "8 samples on 3 ranks", "9");
  EXPECT_EQ(std::string(recipe.Finish().message()),
            "1 error in t.toml\n  t.toml:3: batch.global = 8: 8 samples on 3 "
            "ranks; nearest valid value: 9");
  EXPECT_EQ(recipe.Finish().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lockstep
