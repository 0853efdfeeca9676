// Which levels the product has on this machine.
//
// A processor's tiles are taken at their word only once they have given the
// scalar level's bytes for a hostile product: no manual promises the order of
// their sums, and falling back to a lower level is never wrong.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "determinism/philox.h"
#include "model/kernels/matmul/matmul_kernel.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 48, kColumns = 80, kDepth = 167;

// Every exponent from 2^-77 to 2^50, so that products vanish, cancel and lose
// their low bits; an eighth are zeros.
std::vector<BF16> HostileValues(int64_t count, uint64_t seed) {
  std::vector<BF16> values;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t word =
        RandomU32(seed, {Stream::kTest, 0, 0, static_cast<uint64_t>(i)});
    const auto exponent = static_cast<uint16_t>(50 + (word >> 8) % 128);
    const auto bits = static_cast<uint16_t>((word & 0x807f) | exponent << 7);
    values.push_back(
        {word >> 29 == 0 ? static_cast<uint16_t>(word & 0x8000) : bits});
  }
  return values;
}

std::vector<float> Multiply(MatmulRangeFunction multiply,
                            const std::vector<BF16>& a,
                            const std::vector<BF16>& b) {
  std::vector<float> c(kRows * kColumns);
  const MatmulArgs args = {.m = kRows,
                           .n = kColumns,
                           .k = kDepth,
                           .a = {a.data(), DType::kBF16, kDepth, 1},
                           .b = {b.data(), DType::kBF16, 1, kDepth},
                           .c = c.data(),
                           .c_row_stride = kColumns};
  ScopedFloatEnv env;
  multiply(args, 0, StripsOf(kRows, kColumns).per_batch);
  return c;
}

}  // namespace

bool FollowsOrder(MatmulRangeFunction multiply) {
  const auto a = HostileValues(kRows * kDepth, 1);
  const auto b = HostileValues(kColumns * kDepth, 2);
  const std::vector<float> want = Multiply(&scalar::MatmulRange, a, b);
  const std::vector<float> got = Multiply(multiply, a, b);
  return std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0;
}

KernelVariants<MatmulRangeFunction> MatmulVariants() {
  auto variants = LS_KERNEL_VARIANTS(
      MatmulRange, "matmul",
      "F32: one FMA chain over ascending k; BF16, F16: amx32");
  static const bool tiles_follow = [] {
    if (!IsaPresent(Isa::kAmx) || FollowsOrder(&amx::MatmulRange)) return true;
    std::fprintf(stderr,
                 "lockstep: this processor's tiles do not add in the order "
                 "amx32; products take the avx512 level\n");
    return false;
  }();
  if (tiles_follow) {
    variants.by_isa[static_cast<int>(Isa::kAmx)] = &amx::MatmulRange;
  }
  return variants;
}

}  // namespace lockstep
