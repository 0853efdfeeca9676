// What a trace has of an operation beside fingerprints: kernels and values.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "determinism/memory_file_system.h"
#include "determinism/trace_writer.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

const std::string kPath = "/rank_0.trace";

// One operation with the kernels that ran for it.
trace::Operation OperationAt(const TraceOptions& options, TensorRef out) {
  MemoryFileSystem fs;
  const KernelRun run = {.kernel = "matmul",
                         .variant = "avx2",
                         .order = "ascending",
                         .calls = 3,
                         .items = 40};
  const auto writer = TraceWriter::Open(fs, kPath, 0, options);
  EXPECT_TRUE(writer.ok());
  (*writer)->OnOperation({.step = 1,
                          .scope = "a",
                          .operation = "b",
                          .outputs = {&out, 1},
                          .kernels = {&run, 1},
                          .threads = 4});
  EXPECT_TRUE((*writer)->Close().ok());
  const auto trace = ReadTrace(fs, kPath);
  EXPECT_TRUE(trace.ok() && !trace->records.empty());
  return trace->records.at(0).operation();
}

TEST(TraceValuesTest, KernelsHaveVariantsAndOnTheirLevelOrders) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const TensorRef out = {
      .name = "y", .dtype = DType::kF32, .shape = {6}, .data = x.data()};
  for (const TraceLevel level : {TraceLevel::kOperation, TraceLevel::kKernel}) {
    const trace::Operation operation = OperationAt({.level = level}, out);
    ASSERT_EQ(operation.kernels_size(), 1);
    EXPECT_EQ(operation.kernels(0).kernel(), "matmul");
    EXPECT_EQ(operation.kernels(0).variant(), "avx2");
    EXPECT_EQ(operation.kernels(0).calls(), 3);
    const bool all = level == TraceLevel::kKernel;
    EXPECT_EQ(operation.kernels(0).order(), all ? "ascending" : "");
    EXPECT_EQ(operation.kernels(0).items(), all ? 40 : 0);
    EXPECT_EQ(operation.threads(), all ? 4 : 0);
  }
}

TEST(TraceValuesTest, ValuesAreRecordedAsFarAsAskedFor) {
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 3.0f : -4.0f;
  x[10] = std::numeric_limits<float>::infinity();
  x[11] = 100;
  const TensorRef out = {
      .name = "y", .dtype = DType::kF32, .shape = {8, 8}, .data = x.data()};
  const auto values = [&](TraceValues asked) {
    return OperationAt({.level = TraceLevel::kOperation, .values = asked}, out)
        .outputs(0);
  };
  EXPECT_FALSE(values(TraceValues::kNone).has_values());
  const trace::TensorValues bare = values(TraceValues::kStatistics).values();
  EXPECT_EQ(bare.absmax(), 100);
  EXPECT_EQ(bare.non_finite(), 1);
  EXPECT_EQ(bare.rms(), std::sqrt((31 * 9 + 31 * 16 + 1e4) / 63));
  EXPECT_EQ(bare.elements_size(), 0);
  const trace::TensorValues some = values(TraceValues::kSample).values();
  ASSERT_EQ(some.elements_size(), kSampledElements);
  for (int i = 0; i < some.elements_size(); ++i) {
    EXPECT_EQ(some.sample(i), x[static_cast<size_t>(some.elements(i))]);
  }
  EXPECT_EQ(some.contents(), "");
  const std::string bytes = values(TraceValues::kBytes).values().contents();
  ASSERT_EQ(bytes.size(), 256u);
  EXPECT_EQ(std::memcmp(bytes.data(), x.data(), 256), 0);
}

TEST(TraceValuesTest, AnyNumberOfReadersComesToTheSameFingerprint) {
  std::vector<float> x(300'001);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.5f + static_cast<float>(i);
  const TensorRef tensor = {.name = "x",
                            .dtype = DType::kF32,
                            .shape = {static_cast<int64_t>(x.size())},
                            .data = x.data()};
  int64_t pieces = 0;
  const TraceLoop backwards = [&](int64_t n, const auto& item) {
    pieces = n;
    for (int64_t i = n; i-- > 0;) item(i);
  };
  EXPECT_EQ(FingerprintOf(tensor, backwards).value,
            FingerprintOf(tensor).value);
  EXPECT_GT(pieces, 2);
}

TEST(TraceValuesTest, NamesGoBothWays) {
  for (const char* name : {"none", "statistics", "sample", "bytes"}) {
    EXPECT_STREQ(NameOf(*TraceValuesFromName(name)), name);
  }
  EXPECT_FALSE(TraceValuesFromName("byte").ok());
}

// The sample of a part is what it has of the whole's.
TEST(TraceValuesTest, ASampleNamesTheSameElementsOnEveryLayout) {
  std::vector<float> whole(96);
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = 0.5f + i;
  const TraceOptions options = {.level = TraceLevel::kOperation,
                                .values = TraceValues::kSample};
  const auto sample = [&](int64_t first, int64_t rows) {
    const TensorRef part = {.name = "y",
                            .dtype = DType::kF32,
                            .shape = {rows, 8},
                            .data = &whole[static_cast<size_t>(first * 8)],
                            .global_shape = {12, 8},
                            .held = {{{first, first + rows}}, {}}};
    const trace::Operation operation = OperationAt(options, part);
    const trace::TensorValues& values = operation.outputs(0).values();
    std::map<int64_t, double> sampled;
    for (int i = 0; i < values.elements_size(); ++i) {
      sampled[values.elements(i)] = values.sample(i);
    }
    return sampled;
  };
  std::map<int64_t, double> parts = sample(0, 5), rest = sample(5, 7);
  EXPECT_FALSE(parts.empty() || rest.empty());
  parts.merge(rest);
  EXPECT_EQ(parts, sample(0, 12));
}

}  // namespace
}  // namespace lockstep
