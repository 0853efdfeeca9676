// N5's protocol on several ranks: an overflow and a lost range are met by all
// of them, and answered as one rank would.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

struct GridLayout {
  int64_t ranks;
  std::vector<std::string> sets;
};

const std::vector<GridLayout>& Layouts() {
  static const auto& layouts = *new std::vector<GridLayout>{
      {3, {"parallel.data=3"}},
      {4, {"parallel.pipeline=2", "parallel.data=2", "train.recompute=true"}},
      {2, {"parallel.pipeline=2", "parallel.interleave=2"}},
      {4, {"parallel.tensor=4"}},
      {8,
       {"parallel.data=2", "parallel.pipeline=2", "parallel.tensor=2",
        "parallel.sequence=true"}}};
  return layouts;
}

RigOptions Options(const std::string& fault, const GridLayout& layout) {
  RigOptions options;
  options.sets = {"guarantee=layout_invariant", "model.hidden_dropout=0.1"};
  options.sets.insert(options.sets.end(), layout.sets.begin(),
                      layout.sets.end());
  // An element is one of what a rank holds, and of a cut stream each has its
  // own.
  if (absl::StrContains(fault, "element=")) {
    options.sets.push_back("parallel.sequence=false");
  }
  options.ranks = layout.ranks;
  options.threads = 1;
  options.faults = {fault};
  return options;
}

// Events of these names, without what is the clock's and the chain's.
std::vector<std::string> Events(const TrainRig& rig, const std::string& name) {
  std::vector<std::string> events;
  for (const auto line :
       absl::StrSplit(rig.Read("ledger.jsonl"), '\n', absl::SkipEmpty())) {
    Json json = Json::parse(std::string(line));
    if (json["event"] != name) continue;
    for (const char* own : {"time_ms", "prev", "seq", "sum"}) {
      json.erase(own);
    }
    events.push_back(json.dump());
  }
  return events;
}

void ExpectSameOnEveryLayout(const std::string& fault, const std::string& event,
                             const std::string& field) {
  const TrainRig one("grid_one");
  const std::string unseed = one.Unseed(Options(fault, {1, {}}));
  const std::vector<std::string> want = Events(one, event);
  ASSERT_FALSE(want.empty()) << "the fault made no " << event;
  int64_t lines = 0;
  for (const std::string& line : one.Metrics()) {
    lines += Json::parse(line).contains(field) ? 1 : 0;
  }
  EXPECT_GE(lines, 1) << field;
  for (const GridLayout& layout : Layouts()) {
    const TrainRig rig("grid_ranks");
    EXPECT_EQ(rig.Unseed(Options(fault, layout)), unseed) << layout.sets[0];
    EXPECT_TRUE(SameLines(rig.Metrics(), one.Metrics())) << layout.sets[0];
    EXPECT_EQ(Events(rig, event), want) << layout.sets[0];
  }
}

// From step 4 on all gradients below the last layer are a million times what
// they would be. The pass is made once more, by every rank, and once only.
TEST(GridRanksTest, N5AnOverflowIsRecomputedOnEveryLayout) {
  ExpectSameOnEveryLayout(
      "kind=spike,step=4,when=from,occurrence=all,factor=1048576,"
      "at=layers.4.mixer.down_proj.backward",
      "grid_recompute", "grid_overflow");
}

// One sample's gradients alone, which one replica has: the others learn of it.
TEST(GridRanksTest, N5OneReplicasOverflowIsEverybodys) {
  ExpectSameOnEveryLayout(
      "kind=spike,step=4,occurrence=all,factor=1073741824,sample=29,"
      "at=layers.4.residual.backward",
      "grid_recompute", "grid_overflow");
}

// One entry of the embedding's gradient is so large that others vanish.
TEST(GridRanksTest, N5LostRangeIsReportedOnEveryLayout) {
  ExpectSameOnEveryLayout(
      "kind=spike,step=2,when=from,occurrence=all,element=5,factor=1e20,"
      "at=layers.0.norm.backward",
      "grid_lost_range", "below_grid");
}

}  // namespace
}  // namespace lockstep
