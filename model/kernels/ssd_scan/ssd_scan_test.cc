#include "model/kernels/ssd_scan/ssd_scan.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/kernel_testing.h"
#include "model/kernels/ssd_scan/ssd_scan_testing.h"

namespace lockstep {
namespace {

constexpr double kEpsF32 = 0x1p-24;
constexpr double kEpsBF16 = 0x1p-8;
const char* const kGradients[] = {"x",       "b",     "c", "dt_raw",
                                  "dt_bias", "a_log", "d"};

SsdCase GoldenCase(const GoldenFile& file, DType dtype, int64_t chunk) {
  SsdCase scan({2, 75, 4, 8, 2, 16, chunk}, dtype);
  scan.x.Fill(file.Floats("ssd/in/x"));
  scan.b.Fill(file.Floats("ssd/in/b"));
  scan.c.Fill(file.Floats("ssd/in/c"));
  scan.dt_raw.Fill(file.Floats("ssd/in/dt_raw"));
  scan.dy.Fill(file.Floats("ssd/cotangent"));
  scan.dt_bias = file.Floats("ssd/in/dt_bias");
  scan.a_log = file.Floats("ssd/in/a_log");
  scan.d = file.Floats("ssd/in/d");
  scan.samples_per_leaf = 2;
  return scan;
}

// The float64 recurrence with autograd is the truth; the bound counts a
// rounding for each term of the longest sum, the 150 tokens of a leaf.
void ExpectGolden(DType dtype, double eps) {
  const GoldenFile file("layers.safetensors");
  for (const int64_t chunk : {1, 16, 32, 40, 75, 128}) {
    const SsdResult got = RunSsd(GoldenCase(file, dtype, chunk), BestIsa());
    const double bound = 8 * eps * std::sqrt(150.0);
    EXPECT_TRUE(CloseTo(got["y"], file.Doubles("ssd/out"), bound))
        << "y, chunk " << chunk;
    for (const std::string name : kGradients) {
      EXPECT_TRUE(CloseTo(got[name], file.Doubles("ssd/grads/" + name), bound))
          << name << ", chunk " << chunk;
    }
  }
}

TEST(SsdScan, MatchesTheFloat64RecurrenceInFp32) {
  ExpectGolden(DType::kF32, kEpsF32);
}

TEST(SsdScan, N13MatchesTheFloat64RecurrenceInBf16) {
  ExpectGolden(DType::kBF16, kEpsBF16);
}

class SsdScanStorage : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, SsdScanStorage,
                         testing::Values(DType::kF32, DType::kBF16,
                                         DType::kF16),
                         [](const auto& info) { return NameOf(info.param); });

// The order ids are really two: amx32 is not the fp32 chain (N3).
TEST(SsdScan, N3Bf16ValuesInFp32GiveOtherBits) {
  const SsdCase narrow =
      SsdCase::Random({1, 64, 2, 32, 1, 32, 64}, DType::kBF16, 4);
  SsdCase wide = SsdCase::Random(narrow.shape, DType::kF32, 4);
  wide.x.Fill(narrow.x.Values());
  wide.b.Fill(narrow.b.Values());
  wide.c.Fill(narrow.c.Values());
  wide.dt_raw.Fill(narrow.dt_raw.Values());
  EXPECT_FALSE(
      SameBits(RunSsd(narrow, BestIsa())["y"], RunSsd(wide, BestIsa())["y"]));
}

void ExpectFinite(const SsdResult& result) {
  for (const auto& [name, values] : result.tensors) {
    int64_t bad = 0;
    for (const float value : values) bad += !std::isfinite(value);
    EXPECT_EQ(bad, 0) << name << ", of " << values.size();
  }
}

// Decays that underflow at once, steps that are nearly nothing, steps in
// softplus's linear branch: no Inf times zero, no exp of a positive number.
TEST_P(SsdScanStorage, N13ExtremeDecaysStayFinite) {
  SsdCase scan = SsdCase::Random({1, 75, 6, 16, 2, 16, 32}, GetParam(), 5);
  scan.a_log = {9.0f, 9.0f, 0.0f, 0.0f, 60.0f, -60.0f};
  scan.dt_bias = {3.0f, -20.0f, -80.0f, -110.0f, 25.0f, 30.0f};
  ExpectFinite(RunSsd(scan, BestIsa()));
}

double EpsOf(DType dtype) {
  if (dtype == DType::kBF16) return kEpsBF16;
  return dtype == DType::kF16 ? 0x1p-11 : kEpsF32;
}

void ZeroRows(StorageBuffer& buffer, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    for (int64_t i = 0; i < buffer.columns(); ++i) buffer.Set(t, i, 0.0f);
  }
}

// A document in a reset sample is as if all else were silent (N14): u and g
// zero outside it, and no resets. Not by bytes, since cs is a chain over the
// whole chunk either way but G and H are rounded with another's values.
TEST_P(SsdScanStorage, N14DocumentsDoNotMeet) {
  const SsdShape shape{1, 128, 4, 16, 2, 16, 32};
  const std::vector<int64_t> starts = {0, 40, 43, 64, 128};
  SsdCase scan = SsdCase::Random(shape, GetParam(), 6);
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    scan.segments.resize(starts[i + 1], static_cast<int32_t>(i) + 1);
  }
  const SsdResult reset = RunSsd(scan, BestIsa());
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    SsdCase one = SsdCase::Random(shape, GetParam(), 6);
    for (StorageBuffer* buffer : {&one.x, &one.dy}) {
      ZeroRows(*buffer, 0, starts[i]);
      ZeroRows(*buffer, starts[i + 1], shape.tokens);
    }
    const SsdResult alone = RunSsd(one, BestIsa());
    for (const std::string name : {"y", "x", "b", "c", "dt_raw"}) {
      const auto part = [&](const SsdResult& result) {
        return Slice(result[name], shape.tokens, starts[i],
                     starts[i + 1] - starts[i]);
      };
      const std::vector<float> want = part(alone);
      EXPECT_TRUE(CloseTo(part(reset), {want.begin(), want.end()},
                          4 * EpsOf(GetParam())))
          << name << ", document " << i;
    }
  }
}

// One document is the same as no documents, by bytes.
TEST_P(SsdScanStorage, N14OneDocumentIsNoReset) {
  SsdCase scan = SsdCase::Random({2, 75, 4, 16, 2, 16, 32}, GetParam(), 8);
  const SsdResult without = RunSsd(scan, BestIsa());
  scan.segments.assign(scan.shape.batch * scan.shape.tokens, 7);
  ExpectSame(without, RunSsd(scan, BestIsa()), "one document");
}

// Leaves are sums of their own, unnormalised (N5).
TEST(SsdScan, N5LeavesHoldTheirSamples) {
  SsdCase scan = SsdCase::Random({4, 40, 4, 16, 2, 16, 32}, DType::kF32, 9);
  const SsdResult single = RunSsd(scan, BestIsa());
  scan.samples_per_leaf = 2;
  const SsdResult pairs = RunSsd(scan, BestIsa());
  for (const std::string name : {"dt_bias", "a_log", "d"}) {
    std::vector<double> want;
    for (int64_t leaf = 0; leaf < 2; ++leaf) {
      for (int64_t h = 0; h < 4; ++h) {
        want.push_back(double{single[name][(2 * leaf) * 4 + h]} +
                       double{single[name][(2 * leaf + 1) * 4 + h]});
      }
    }
    EXPECT_TRUE(CloseTo(pairs[name], want, 32 * kEpsF32)) << name;
  }
}

}  // namespace
}  // namespace lockstep
