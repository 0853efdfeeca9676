// A recipe's own test: straight against resumed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "determinism/status.h"
#include "tests/cases/small_run.h"
#include "tools/audit_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

struct Verdict {
  bool negative = false;
  Json json;
};

Verdict Verify(VerifyOptions options) {
  options.allow = {"dirty"};
  options.threads = 1;
  options.json = true;
  options.steps = 4;
  options.sets.push_back("train.steps=12");
  const auto answer = VerifyVerb(options);
  EXPECT_TRUE(answer.ok()) << answer.status();
  if (!answer.ok()) return {};
  return {answer->negative, Json::parse(answer->text)};
}

TEST(VerifyRecipeTest, ResumedIsStraight) {
  const Verdict v = Verify({.path = SmallRecipe("recipe", 60),
                            .sets = {"model.hidden_dropout=0.1"}});
  EXPECT_FALSE(v.negative);
  EXPECT_EQ(v.json["ok"], true);
  EXPECT_EQ(v.json["same_bits"], true);
  EXPECT_EQ(v.json["lines_equal"], 4);
  EXPECT_EQ(v.json["stopped_after"], 2);
  EXPECT_EQ(v.json["unseed_straight"], v.json["unseed_resumed"]);
  EXPECT_EQ(v.json["state_saved"], v.json["state_restored"]);
}

TEST(VerifyRecipeTest, OnAnotherLayoutAsTheRungPromises) {
  const std::string recipe = SmallRecipe("layouts", 60);
  const Verdict invariant = Verify({.path = recipe,
                                    .sets = {"guarantee=layout_invariant"},
                                    .layout = "data=2,tensor=2"});
  EXPECT_FALSE(invariant.negative);
  EXPECT_EQ(invariant.json["same_bits"], true);
  const Verdict bitwise =
      Verify({.path = recipe, .layout = "data=1,tensor=2,pipeline=1"});
  EXPECT_FALSE(bitwise.negative);
  EXPECT_EQ(bitwise.json["same_bits"], false);  // which it does not promise
  EXPECT_EQ(bitwise.json["lines_equal"], 2);
  EXPECT_EQ(bitwise.json["state_saved"], bitwise.json["state_restored"]);
}

TEST(VerifyRecipeTest, CanaryAFlippedBitAfterTheResumeIsSeen) {
  const Verdict v = Verify(
      {.path = SmallRecipe("canary", 60),
       .resumed_faults = {
           "kind=flip,step=3,at=embeddings.lookup.forward,element=3,bit=20"}});
  EXPECT_TRUE(v.negative);
  EXPECT_EQ(v.json["ok"], false);
  EXPECT_EQ(v.json["first_difference"], 3);
}

TEST(VerifyRecipeTest, WhatCannotBeIsTheUsersInput) {
  const std::string recipe = SmallRecipe("refused", 60);
  for (const char* layout : {"dato=2", "data=0", "data=2=3", "tensor=3"}) {
    VerifyOptions options = {
        .path = recipe, .sets = {"train.steps=12"}, .layout = layout};
    options.allow = {"dirty"};
    EXPECT_EQ(ExitCodeFor(VerifyVerb(options).status()), 2) << layout;
  }
  EXPECT_EQ(ExitCodeFor(VerifyVerb({.path = "no_such.toml"}).status()), 2);
}

}  // namespace
}  // namespace lockstep
