// The list of places for faults is that of a run's own announcements.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  if (event.operation == "gradient" || event.operation == "adamw") {
    return absl::StrCat("PARAMETER.", std::string(event.operation));
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

TEST(FaultPlacesTest, ListsWhatAStepAnnouncesAndNoMore) {
  OwnStepper stepper(OneStep(), testing::TempDir() + "/fault_places");
  Listener listener;
  stepper->AddObserver(&listener);
  stepper.Step();
  std::map<std::string, std::set<std::string>> listed;
  for (const FaultPlace& place : AllFaultPlaces().operations) {
    listed[place.at] = absl::StrSplit(place.what, ", ");
  }
  EXPECT_GT(listed.size(), 15u);
  EXPECT_EQ(listener.phases, listed);
}

TEST(FaultPlacesTest, EveryListedOperationCanBeBroken) {
  std::vector<FaultSpec> specs;
  for (const FaultPlace& place : AllFaultPlaces().operations) {
    if (place.at.substr(0, 9) == "PARAMETER") continue;
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
