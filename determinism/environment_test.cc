#include "determinism/environment.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/guarantee.h"
#include "determinism/nearest.h"
#include "determinism/operation.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(EnvironmentTest, LevelsAreANestedSequenceThatStartsWithScalar) {
  const std::vector<Isa> present = PresentIsas();
  ASSERT_FALSE(present.empty());
  for (size_t i = 0; i < present.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(present[i]), i);  // none is skipped
  }
  EXPECT_EQ(BestIsa(), present.back());
}

TEST(EnvironmentTest, EveryPresentLevelCanBeChosen) {
  for (const Isa isa : PresentIsas()) {
    EXPECT_EQ(*ChooseIsa(NameOf(isa)), isa);
  }
  EXPECT_EQ(*ChooseIsa(""), BestIsa());
}

TEST(EnvironmentTest, AnUnknownOrAbsentLevelIsRefusedWithThoseThereAre) {
  const auto unknown = ChooseIsa("avx3");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string text(unknown.status().message());
  EXPECT_NE(text.find("nearest: 'avx2'"), std::string::npos) << text;
  EXPECT_NE(text.find("LOCKSTEP_ISA"), std::string::npos);
  EXPECT_NE(text.find("scalar"), std::string::npos);
  for (int i = 0; i < kIsaCount; ++i) {
    const auto isa = static_cast<Isa>(i);
    EXPECT_EQ(ChooseIsa(NameOf(isa)).ok(), IsaPresent(isa)) << NameOf(isa);
  }
}

TEST(EnvironmentTest, TheVariableIsHonoured) {
  setenv("LOCKSTEP_ISA", "scalar", 1);
  EXPECT_EQ(*ChosenIsa(), Isa::kScalar);
  setenv("LOCKSTEP_ISA", "sse", 1);
  EXPECT_FALSE(ChosenIsa().ok());
  unsetenv("LOCKSTEP_ISA");
  EXPECT_EQ(*ChosenIsa(), BestIsa());
}

TEST(EnvironmentTest, DescribesThisMachine) {
  const MachineInfo info = DescribeMachine();
  EXPECT_FALSE(info.cpu_model.empty());
  EXPECT_EQ(info.isas, PresentIsas());
  EXPECT_GE(info.cores, 1);
  EXPECT_GT(info.memory_bytes, 1 << 20);
  EXPECT_FALSE(info.hostname.empty());
  EXPECT_TRUE(info.kernel.starts_with("Linux ")) << info.kernel;
  EXPECT_EQ(info.architecture, "x86_64");
  EXPECT_NE(info.compiler, "");
  ASSERT_FALSE(info.libraries.empty());
  EXPECT_FALSE(info.libraries[0].version.empty());
}

TEST(GuaranteeTest, IsALadderWithNames) {
  EXPECT_LT(Guarantee::kStatistical, Guarantee::kStateExact);
  EXPECT_LT(Guarantee::kStateExact, Guarantee::kBitwise);
  EXPECT_LT(Guarantee::kBitwise, Guarantee::kLayoutInvariant);
  for (const char* name :
       {"statistical", "state_exact", "bitwise", "layout_invariant"}) {
    EXPECT_STREQ(NameOf(*GuaranteeFromName(name)), name);
  }
  const auto wrong = GuaranteeFromName("bit_wise");
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(wrong.status().message()).find("write 'bitwise'"),
            std::string::npos);
}

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("sede", "seed"), 1);  // neighbours swapped
  const std::string_view names[] = {"seed", "steps", "step"};
  EXPECT_EQ(NearestName("stp", names), "step");
  EXPECT_EQ(NearestName("sed", names), "seed");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(PhaseTest, NamesGoBothWays) {
  for (int i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_EQ(PhaseFromName(NameOf(phase)), phase);
  }
  EXPECT_FALSE(PhaseFromName("forwards").has_value());
}

class Recorder : public OperationObserver {
 public:
  Recorder(std::string& log, char mark) : log_(log), mark_(mark) {}
  void OnOperation(const OperationEvent&) override { log_.push_back(mark_); }

 private:
  std::string& log_;
  const char mark_;
};

TEST(OperationHooksTest, NotifiesInTheOrderOfAddition) {
  std::string log;
  Recorder injector(log, 'f'), tracer(log, 't');
  OperationHooks hooks;
  EXPECT_FALSE(hooks.active());
  hooks.Add(&injector);
  hooks.Add(&tracer);
  EXPECT_TRUE(hooks.active());
  hooks.Notify({.step = 1});
  hooks.Notify({.step = 2});
  EXPECT_EQ(log, "ftft");
}

}  // namespace
}  // namespace lockstep
