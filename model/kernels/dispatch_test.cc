// What is dispatched is what was asked for, of every operation in the registry.
// That the levels are different machine code: levels_code_test.sh.

#include "model/kernels/dispatch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/registry.h"

namespace lockstep {
namespace {

// Everything that an operation's self check ran on a device of this level.
std::vector<KernelRun> RunsOf(const KernelInfo& info, Isa isa) {
  Device device(3, isa);
  device.WatchKernels();
  info.self_check(device, CheckFault::kNone);
  return device.TakeKernels();
}

// The highest level of the operation that is not above `isa`.
Isa LevelFor(const KernelInfo& info, Isa isa) {
  Isa best = Isa::kScalar;
  for (const Isa level : info.levels) {
    if (level <= isa) best = std::max(best, level);
  }
  return best;
}

class DispatchTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!IsaPresent(GetParam())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
  }
};

TEST_P(DispatchTest, N1TheLevelAskedForIsTheOneThatRan) {
  int64_t operations = 0;
  for (const KernelInfo& info : AllKernels()) {
    const Isa level = LevelFor(info, GetParam());
    if (GetParam() <= Isa::kAvx512) {
      EXPECT_EQ(level, GetParam()) << info.operation << " has no such level";
    }
    bool own = false;
    for (const KernelRun& run : RunsOf(info, GetParam())) {
      EXPECT_EQ(run.variant, NameOf(level)) << run.kernel;
      EXPECT_GT(run.calls, 0) << run.kernel;
      EXPECT_GT(run.items, 0) << run.kernel;
      own |= run.kernel == info.operation;
    }
    EXPECT_TRUE(own) << info.operation << " ran no kernel of its own";
    ++operations;
  }
  EXPECT_EQ(operations, static_cast<int64_t>(AllKernels().size()));
}

INSTANTIATE_TEST_SUITE_P(Levels, DispatchTest,
                         testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512,
                                         Isa::kAmx),
                         [](const auto& info) {
                           return std::string(NameOf(info.param));
                         });

// The canary of the test above: another level's name is another.
TEST(DispatchTest, ALevelThatWasNotAskedForShows) {
  if (BestIsa() == Isa::kScalar) {
    GTEST_SKIP() << "scalar is the only level here: no two to compare";
  }
  for (const KernelInfo& info : AllKernels()) {
    for (const KernelRun& run : RunsOf(info, BestIsa())) {
      EXPECT_NE(run.variant, NameOf(Isa::kScalar)) << run.kernel;
    }
  }
}

void Nothing(const int&, int64_t, int64_t) {}
void NothingFaster(const int&, int64_t, int64_t) {}

TEST(DispatchTest, RunsAreNotedOnceADeviceIsWatched) {
  using Fn = decltype(&Nothing);
  const KernelVariants<Fn> one{
      "one", "no sums", {&Nothing, nullptr, nullptr, nullptr}};
  const KernelVariants<Fn> two{
      "two", "a chain", {&Nothing, nullptr, &NothingFaster, nullptr}};
  Device device(2, BestIsa());
  EXPECT_EQ(KernelFor(device, one, 5), &Nothing);
  EXPECT_TRUE(device.TakeKernels().empty()) << "nobody watched";
  device.WatchKernels();
  RunKernel(device, one, 0, 5, 1);
  RunKernel(device, one, 0, 7, 1);
  const bool has_fast = BestIsa() >= Isa::kAvx512;
  EXPECT_EQ(KernelFor(device, two, 1), has_fast ? &NothingFaster : &Nothing);
  const std::vector<KernelRun> runs = device.TakeKernels();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].kernel, "one");
  EXPECT_EQ(runs[0].variant, "scalar");
  EXPECT_EQ(runs[0].calls, 2);
  EXPECT_EQ(runs[0].items, 12);
  EXPECT_EQ(runs[1].kernel, "two");
  EXPECT_EQ(runs[1].variant, has_fast ? "avx512" : "scalar");
  EXPECT_EQ(runs[1].order, "a chain");
  EXPECT_TRUE(device.TakeKernels().empty()) << "taken twice";
}

}  // namespace
}  // namespace lockstep
