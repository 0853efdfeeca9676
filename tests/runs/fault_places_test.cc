// The list of places for faults is that of a run's own announcements.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "determinism/fault.h"
#include "determinism/operation.h"
#include "tests/cases/own_stepper.h"
#include "tests/train/train_rig.h"
#include "tools/doctor/fault_points.h"

namespace lockstep {
namespace {

// One step with every kind of layer, recomputation and dropout not among it.
RigOptions OneStep() {
  return {.sets = {"data.sequence=32", "batch.global=2", "schedule.warmup=1"},
          .steps = 1,
          .threads = 1};
}

// "layers.*.mixer.norm" of "layers.3.mixer" and "norm".
std::string PatternOf(const OperationEvent& event) {
  const std::string operation(event.operation);
  if (event.scope.starts_with("backbone.") || event.scope == "lm_head.weight") {
    return absl::StrCat("PARAMETER.", operation);
  }
  std::vector<std::string> parts =
      absl::StrSplit(std::string(event.scope), '.');
  if (parts.size() > 1 && parts[0] == "layers") parts[1] = "*";
  parts.emplace_back(event.operation);
  return absl::StrJoin(parts, ".");
}

class Listener : public OperationObserver {
 public:
  void OnOperation(const OperationEvent& event) override {
    phases[PatternOf(event)].insert(NameOf(event.phase));
  }
  std::map<std::string, std::set<std::string>> phases;
};

// What one rank has nobody to do with.
bool IsExchange(const FaultPlace& place) {
  return place.what == "collective" || place.what == "message";
}

TEST(FaultPlacesTest, ListsWhatAStepAnnouncesAndNoMore) {
  OwnStepper stepper(OneStep(), testing::TempDir() + "/fault_places");
  Listener listener;
  stepper->AddTracer(&listener);
  stepper.Step();
  stepper->AnnounceSave();
  std::map<std::string, std::set<std::string>> listed;
  for (const FaultPlace& place : AllFaultPlaces().operations) {
    if (IsExchange(place)) continue;
    listed[place.at] = absl::StrSplit(place.what, ", ");
  }
  EXPECT_GT(listed.size(), 15u);
  EXPECT_EQ(listener.phases, listed);
}

TEST(FaultPlacesTest, EveryListedOperationCanBeBroken) {
  std::vector<FaultSpec> specs;
  for (const FaultPlace& place : AllFaultPlaces().operations) {
    if (place.at.substr(0, 9) == "PARAMETER" || IsExchange(place)) continue;
    const auto spec = ParseFault("kind=spike,factor=1,at=" + place.at);
    ASSERT_TRUE(spec.ok()) << std::string(spec.status().message());
    specs.push_back(*spec);
  }
  FaultPlan plan(specs, 0);
  plan.BeginStep(1, 0);
  OwnStepper stepper(OneStep(), testing::TempDir() + "/fault_places_broken");
  stepper->AddObserver(&plan);
  stepper.Step();
  EXPECT_TRUE(plan.Unfired().empty()) << absl::StrJoin(plan.Unfired(), "\n");
}

// A fault that is never met leaves its run as it was.
TEST(FaultPlacesTest, WhatRanksExchangeCanBeBrokenOnEachLayout) {
  const std::string weight = "backbone.layers.0.mixer.in_proj.weight";
  for (const std::string layout : {"data", "pipeline"}) {
    RigOptions options = OneStep();
    options.ranks = 2;
    options.sets.push_back(absl::StrCat("parallel.", layout, "=2"));
    options.sets.push_back("batch.micro=1");
    options.steps = 2;  // weights are gathered for the second
    const TrainRig clean(absl::StrCat("fault_exchange_", layout));
    const std::string sound = clean.Unseed(options);
    int broken = 0;
    for (const FaultPlace& place : AllFaultPlaces().operations) {
      const bool message = place.what == "message";
      if (!IsExchange(place) || message != (layout == "pipeline")) continue;
      const std::string at =
          absl::StrReplaceAll(place.at, {{"PARAMETER", weight}});
      options.faults = {absl::StrCat("kind=spike,factor=2,step=1,at=", at)};
      const TrainRig rig(absl::StrCat("fault_exchange_", layout, "_broken"));
      EXPECT_NE(rig.Unseed(options), sound) << at;
      ++broken;
    }
    EXPECT_EQ(broken, layout == "data" ? 2 : 4);
  }
}

TEST(FaultPlacesTest, EveryListedPointIsPassed) {
  for (const FaultPlace& point : AllFaultPlaces().points) {
    const TrainRig rig(absl::StrCat("fault_point_", point.at));
    RigOptions options = OneStep();
    options.faults = {absl::StrCat("kind=raise,step=1,at=", point.at)};
    EXPECT_EQ(rig.Train(options).status.code(), absl::StatusCode::kInternal)
        << point.at;
  }
}

}  // namespace
}  // namespace lockstep
