// The kinds of faults that need more than one tensor, and the one list of all.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "determinism/fault.h"
#include "determinism/fresh_memory.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::vector<FaultSpec> Spec(const std::string& text) {
  const auto spec = ParseFault(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return {*spec};
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseFault(text).status().message());
}

// y [2, 2] of one call, which leaves `value` everywhere.
struct Call {
  explicit Call(float value) : y(4, value) {}

  void Tell(OperationObserver& plan, int64_t micro_batch = 0) {
    const TensorRef out = {
        .name = "y", .dtype = DType::kF32, .shape = {2, 2}, .data = y.data()};
    plan.OnOperation({.phase = Phase::kForward,
                      .scope = "a",
                      .operation = "b",
                      .micro_batch = micro_batch,
                      .outputs = {&out, 1}});
  }
  std::vector<float> y;
};

TEST(StaleFaultTest, LeavesWhatTheLastCallLeft) {
  FaultPlan plan(Spec("kind=stale,at=a.b.forward,step=2,micro=1"), 0);
  plan.BeginStep(1, 0);
  Call(1).Tell(plan, 0);
  Call(2).Tell(plan, 1);
  plan.BeginStep(2, 0);
  Call first(3), second(4);
  first.Tell(plan, 0);
  EXPECT_EQ(first.y, std::vector<float>(4, 3));
  second.Tell(plan, 1);
  EXPECT_EQ(second.y, std::vector<float>(4, 3));
  EXPECT_TRUE(plan.Unfired().empty());
}

TEST(StaleFaultTest, TheFirstCallOfALaunchFindsZeros) {
  FaultPlan plan(Spec("kind=stale,at=a.b,step=1"), 0);
  plan.BeginStep(1, 0);
  Call call(5);
  call.Tell(plan);
  EXPECT_EQ(call.y, std::vector<float>(4, 0));
}

TEST(UnwrittenFaultTest, LeavesWhatFreshMemoryHolds) {
  FaultPlan element(Spec("kind=unwritten,at=a.b,element=2"), 0);
  Call one(5);
  one.Tell(element);
  EXPECT_EQ(one.y, (std::vector<float>{5, 5, 0, 5}));
  ++FreshMemoryPoison();
  FaultPlan all(Spec("kind=unwritten,at=a.b"), 0);
  Call poisoned(5);
  poisoned.Tell(all);
  --FreshMemoryPoison();
  for (const float value : poisoned.y) EXPECT_NE(value, value);
  FaultPlan plain(Spec("kind=unwritten,at=a.b"), 0);
  Call zeros(5);
  zeros.Tell(plain);
  EXPECT_EQ(zeros.y, std::vector<float>(4, 0));
}

TEST(ScaleFaultTest, ActsOnWhatWasLoadedAlone) {
  for (const Phase phase :
       {Phase::kLoad, Phase::kConversion, Phase::kForward, Phase::kSave}) {
    std::vector<float> m = {1, -3};
    const TensorRef out = {
        .name = "m", .dtype = DType::kF32, .shape = {2}, .data = m.data()};
    FaultPlan plan(Spec("kind=scale,at=w.m"), 0);
    plan.OnOperation(
        {.phase = phase, .scope = "w", .operation = "m", .outputs = {&out, 1}});
    const bool acts = phase == Phase::kLoad || phase == Phase::kConversion;
    EXPECT_EQ(m[1], acts ? -6.0f : -3.0f) << NameOf(phase);
    EXPECT_EQ(plan.Unfired().empty(), acts);
  }
}

TEST(DropCollectiveTest, OfItsStepAndOfAllRanks) {
  FaultPlan plan(Spec("kind=drop_collective,at=weights.all_gather,step=3"), 1);
  for (int64_t step = 1; step <= 4; ++step) {
    plan.BeginStep(step, 0);
    EXPECT_EQ(plan.Drops("weights.all_gather"), step == 3) << step;
    EXPECT_FALSE(plan.Drops("gradients.reduce_scatter"));
  }
  EXPECT_NE(ErrorOf("kind=drop_collective,at=weights.gather,step=1")
                .find("write 'weights.all_gather'"),
            std::string::npos);
  EXPECT_NE(ErrorOf("kind=drop_collective,at=weights.all_gather,step=1,rank=0")
                .find("all ranks"),
            std::string::npos);
}

TEST(RngSlipTest, OfItsMicroBatchHoweverOftenAsked) {
  FaultPlan plan(Spec("kind=rng_slip,step=3,sample=41"), 0);
  constexpr uint64_t kHere[] = {40, 41}, kElsewhere[] = {42, 43};
  plan.BeginStep(3, 0);
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(plan.SlipsStream(0, kHere));
    EXPECT_FALSE(plan.SlipsStream(1, kElsewhere));
  }
  plan.BeginStep(4, 0);
  EXPECT_FALSE(plan.SlipsStream(0, kHere));
  EXPECT_TRUE(plan.Unfired().empty());
}

// Who listens in between sees what the operation left.
TEST(LateFaultTest, ActsBehindThoseWhoListen) {
  FaultPlan plan(Spec("kind=spike,factor=2,at=a.b,occurrence=2,late=yes"), 0);
  ASSERT_NE(plan.late(), nullptr);
  for (const float want : {3.0f, 6.0f, 3.0f}) {
    Call call(3);
    call.Tell(plan);
    EXPECT_EQ(call.y, std::vector<float>(4, 3));
    call.Tell(*plan.late());
    EXPECT_EQ(call.y, std::vector<float>(4, want));
  }
  EXPECT_TRUE(plan.Unfired().empty());
  FaultPlan early(Spec("kind=spike,factor=2,at=a.b,late=no"), 0);
  EXPECT_EQ(early.late(), nullptr);
  Call call(3);
  call.Tell(early);
  EXPECT_EQ(call.y, std::vector<float>(4, 6));
}

TEST(LateFaultTest, IsYesOrNoAndOfDamageAlone) {
  EXPECT_TRUE(Spec("kind=nan,at=a,element=0,late=yes")[0].late);
  EXPECT_FALSE(Spec("kind=nan,at=a,element=0")[0].late);
  EXPECT_NE(ErrorOf("kind=nan,at=a,element=0,late=maybe").find("'maybe'"),
            std::string::npos);
  EXPECT_NE(ErrorOf("kind=stale,at=a,late=yes").find("takes no 'late'"),
            std::string::npos);
}

// The table of FAULTS.md is this one, byte for byte.
TEST(FaultListTest, TheDocumentHasTheKindsAsTheyAre) {
  std::string table;
  for (int i = 0; i < kFaultKindCount; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    std::string needs, takes, word;
    for (const char c : KeysOf(kind) + " ") {
      if (c != ' ') {
        word.push_back(c);
        continue;
      }
      const bool must = word.ends_with('!');
      if (must) word.pop_back();
      std::string& list = must ? needs : takes;
      list += (list.empty() ? "`" : " `") + word + "`";
      word.clear();
    }
    table += std::string("| `") + NameOf(kind) + "` | " + WhatItDoes(kind) +
             " | " + needs + " | " + takes + " |\n";
  }
  std::ifstream file("determinism/FAULTS.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find(table), std::string::npos) << "write into FAULTS.md:\n"
                                                 << table;
}

}  // namespace
}  // namespace lockstep
