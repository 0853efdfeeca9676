// N1, of every operation in the registry, by its own self check.

#include "model/kernels/self_check.h"

#include <set>
#include <string>

#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/registry.h"

namespace lockstep {
namespace {

std::string Digest(const KernelInfo& info, Isa isa, int threads,
                   CheckFault fault = CheckFault::kNone) {
  Device device(threads, isa);
  return info.self_check(device, fault);
}

TEST(SelfCheckTest, EveryOperationHasOneOfItsOwn) {
  std::set<SelfCheckFunction> checks;
  std::set<std::string> digests;
  for (const KernelInfo& info : AllKernels()) {
    ASSERT_NE(info.self_check, nullptr) << info.operation;
    EXPECT_TRUE(checks.insert(info.self_check).second) << info.operation;
    const std::string digest = Digest(info, BestIsa(), 1);
    EXPECT_EQ(digest.size(), 32u) << info.operation;
    EXPECT_TRUE(digests.insert(digest).second) << info.operation;
  }
}

TEST(SelfCheckTest, N1LevelsThreadsAndTimeDoNotMatter) {
  int64_t compared = 0;
  for (const KernelInfo& info : AllKernels()) {
    const std::string want = Digest(info, Isa::kScalar, 1);
    for (const Isa isa : PresentIsas()) {
      for (const int threads : {1, 2, 3, 3}) {
        EXPECT_EQ(Digest(info, isa, threads), want)
            << info.operation << " at " << NameOf(isa) << ", " << threads
            << " threads";
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, static_cast<int64_t>(4 * PresentIsas().size() *
                                           AllKernels().size()));
}

TEST(SelfCheckTest, CanaryAFaultChangesTheDigest) {
  for (const KernelInfo& info : AllKernels()) {
    const std::string sound = Digest(info, BestIsa(), 2);
    const std::string input = Digest(info, BestIsa(), 2, CheckFault::kInput);
    const std::string output = Digest(info, BestIsa(), 2, CheckFault::kOutput);
    EXPECT_NE(input, sound) << info.operation;
    EXPECT_NE(output, sound) << info.operation;
    EXPECT_NE(input, output) << info.operation;
  }
}

// Odd on purpose: a kernel that needs rows to be adjacent or aligned fails.
TEST(SelfCheckTest, TensorsAreUnalignedWithGaps) {
  SelfCheck check(CheckFault::kNone);
  CheckTensor& tensor = check.Output(DType::kBF16, 2, 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 4, 2u);
  EXPECT_EQ(tensor.row_stride(), 8);
  const std::string before = check.Digest();
  tensor.Set(0, 6, 1.0f);  // in the gap
  EXPECT_NE(check.Digest(), before);
}

}  // namespace
}  // namespace lockstep
