// A fault names an element of the unsharded tensor: on every layout it is the
// same fault, and what it does to the run is the same to the bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

// A place a step. Of each tensor one element that the first tensor rank has and
// later ones that others have.
std::vector<std::string> Faults() {
  const std::vector<std::string> places = {
      "embeddings.lookup.forward,element=70",
      "layers.0.norm.forward,element=300",
      "layers.0.mixer.in_proj.forward,element=333",
      "layers.0.mixer.conv1d.forward,element=1110",
      "layers.0.mixer.ssd_scan.forward,element=100",
      "layers.0.mixer.norm.forward,element=700",
      "layers.0.mixer.out_proj.forward,element=41",
      "layers.0.residual.forward,element=410",
      "layers.1.mixer.up_proj.forward,element=50",
      "layers.1.mixer.squared_relu.forward,element=480",
      "layers.1.mixer.down_proj.forward,element=77",
      "layers.3.mixer.qkv_proj.forward,element=1205",
      "layers.3.mixer.attention.forward,element=999",
      "layers.3.mixer.o_proj.forward,element=200",
      "lm_head.logits.forward,element=410",
      "lm_head.logits.backward,element=60",
      "layers.3.mixer.o_proj.backward,element=333",
      "layers.3.mixer.attention.backward,element=40",
      "layers.1.mixer.squared_relu.backward,element=31",
      "layers.0.mixer.norm.backward,element=803",
      "layers.0.mixer.ssd_scan.backward,element=1000",
      "layers.0.mixer.conv1d.backward,element=20",
      "layers.0.mixer.in_proj.backward,element=500",
      "layers.0.residual.backward,element=300",
  };
  std::vector<std::string> faults;
  for (size_t i = 0; i < places.size(); ++i) {
    // Steps have four samples; a micro-batch is one.
    faults.push_back(absl::StrCat("kind=flip,bit=24,step=", i + 2, ",sample=",
                                  4 * (i + 1) + i % 4, ",at=", places[i]));
  }
  faults.push_back(absl::StrCat("kind=swap_rows,step=", places.size() + 2,
                                ",sample=", 4 * (places.size() + 1),
                                ",at=layers.0.mixer.conv1d.forward",
                                ",element=777"));
  // Of a parameter, whose rows replicas share. (A master is its own run-time
  // weight on one rank of fp32, and is not where replicas gather weights: a
  // fault in it after the update is another one there.)
  faults.push_back(
      "kind=flip,bit=24,step=4,element=999,"
      "at=backbone.layers.3.mixer.o_proj.weight.gradient");
  return faults;
}

RigOptions Faulted(int64_t steps, const std::vector<std::string>& faults) {
  return {.recipe = SmallRecipe("fault_ranks", 140),
          .sets = {"guarantee=layout_invariant", "batch.micro=1",
                   "optimizer.clip=0"},
          .steps = steps,
          .threads = 1,
          .faults = faults};
}

TEST(FaultRanksTest, AnElementIsTheSameOnEveryLayout) {
  const std::vector<std::string> faults = Faults();
  const auto steps = static_cast<int64_t>(faults.size()) + 1;
  const TrainRig clean = SmallRig("fault_ranks_clean");
  clean.Unseed(Faulted(steps, {}));
  const TrainRig one = SmallRig("fault_ranks_one");
  const RigResult broken = one.Train(Faulted(steps, faults));
  ASSERT_TRUE(broken.status.ok()) << broken.status.message();
  ASSERT_EQ(one.Metrics().size(), static_cast<size_t>(steps));
  EXPECT_EQ(one.Metrics()[0], clean.Metrics()[0]);
  EXPECT_NE(one.Metrics()[1], clean.Metrics()[1]) << "the first fault";
  using Sets = std::vector<std::string>;
  for (const Sets& layout :
       {Sets{"tensor=2"}, Sets{"tensor=4", "sequence=true"}, Sets{"data=2"},
        Sets{"pipeline=2"}}) {
    SCOPED_TRACE(layout[0]);
    RigOptions options = Faulted(steps, faults);
    options.ranks = layout[0].back() - '0';
    for (const std::string& set : layout) {
      options.sets.push_back("parallel." + set);
    }
    const TrainRig many = SmallRig("fault_ranks_many");
    testing::internal::CaptureStderr();
    const RigResult result = many.Train(options);
    const std::string told = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_TRUE(SameLines(many.Metrics(), one.Metrics()));
    EXPECT_TRUE(absl::StrContains(told, "fault")) << told;
    EXPECT_FALSE(absl::StrContains(told, "never met")) << told;
  }
}

}  // namespace
}  // namespace lockstep
