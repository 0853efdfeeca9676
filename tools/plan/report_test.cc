#include "tools/plan/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Two layouts with numbers of their own.
std::vector<PlannedLayout> Layouts() {
  PlannedLayout first = {.shape = {.data = 2, .pipeline = 1, .tensor = 4},
                         .interleave = 1,
                         .idle = 8,
                         .memory = {1, 2, 3, 4, 5},
                         .busy = 0.5,
                         .crosses = {MeshAxis::kData},
                         .keeps = Guarantee::kBitwise,
                         .current = true};
  first.traffic.tensor = {7, 4096};
  PlannedLayout second = first;
  second.shape.data = 1;
  second.idle = 12;
  second.current = false;
  return {first, second};
}

TEST(PlanReportTest, JsonHasEveryLayoutAndItsParts) {
  PlanRequest request = {.world = 16, .world_before = 16};
  Json json = Json::parse(PlanJson(Layouts(), request));
  ASSERT_EQ(json["layouts"].size(), 2u);
  EXPECT_TRUE(json["hosts"].is_null());
  const Json first = json["layouts"][0];
  EXPECT_EQ(first["data"], 2);
  EXPECT_EQ(first["tensor"], 4);
  EXPECT_EQ(first["ranks"], 8);
  EXPECT_EQ(first["idle"], 8);
  EXPECT_EQ(first["bytes_per_rank"], 15);
  EXPECT_EQ(first["bytes"]["state"], 3);
  EXPECT_EQ(first["bytes"]["communication"], 5);
  EXPECT_EQ(first["traffic"]["tensor"]["messages"], 7);
  EXPECT_EQ(first["traffic"]["tensor"]["bytes"], 4096);
  EXPECT_EQ(first["keeps"], "bitwise");
  EXPECT_EQ(first["current"], true);
  EXPECT_TRUE(first["fits"].is_null());
  EXPECT_TRUE(first["crosses_hosts"].is_null());
  request.hosts = EvenHosts(16, 4);
  request.memory_bytes = 14;
  json = Json::parse(PlanJson(Layouts(), request));
  EXPECT_EQ(json["hosts"], 4);
  EXPECT_EQ(json["layouts"][0]["crosses_hosts"], Json::array({"data"}));
  EXPECT_EQ(json["layouts"][0]["fits"], false);
}

TEST(PlanReportTest, TextHasTheBestAndTheRecipesOwn) {
  std::vector<PlannedLayout> layouts = Layouts();
  std::swap(layouts[0], layouts[1]);  // the recipe's own comes last
  layouts.insert(layouts.begin() + 1, 5, layouts[0]);
  const std::string text =
      PlanText(layouts, {.world = 16, .world_before = 16}, 2);
  EXPECT_TRUE(absl::StrContains(text, "of 7 layouts, the best first")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\nfirst  data 1 x ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\n*    2      4")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 + 1 + 1 + 3);
}

}  // namespace
}  // namespace lockstep
