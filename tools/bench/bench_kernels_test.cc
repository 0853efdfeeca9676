#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/kernels/registry.h"
#include "tools/bench/benches.h"
#include "tools/bench/kernel_work.h"

namespace lockstep {
namespace {

TEST(BenchKernelsTest, EveryOperationOfTheRegistryIsMeasured) {
  std::set<std::string> registered, measured;
  for (const KernelInfo& info : AllKernels()) registered.insert(info.operation);
  for (const auto& maker : AllKernelWork()) measured.insert(maker.operation);
  EXPECT_EQ(measured, registered);
}

TEST(BenchKernelsTest, ProductsAreAgainstThePeakAndTheRestAgainstMemory) {
  for (const auto& [name, unit] : {std::pair{"rms_norm backward", "B/s"},
                                   std::pair{"attention forward", "FLOP/s"}}) {
    const auto cases = BenchKernels({.rounds = 1, .only = name});
    ASSERT_TRUE(cases.ok()) << cases.status();
    ASSERT_EQ(cases->size(), 1u);
    EXPECT_EQ((*cases)[0].unit, unit);
    EXPECT_GT((*cases)[0].rate, 0);
    EXPECT_GT((*cases)[0].probe, 0);
  }
}

}  // namespace
}  // namespace lockstep
