// Traces: what is recorded, that torn tails are survived and damage is not.

#include "determinism/trace_writer.h"

#include <string>
#include <vector>

#include "determinism/crc32c.h"
#include "determinism/memory_file_system.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

const std::string kPath = "/rank_0.trace";

std::string ReadOrDie(FileSystem& fs) {
  const auto contents = fs.ReadFile(kPath);
  EXPECT_TRUE(contents.ok()) << contents.status();
  return *contents;
}

void Overwrite(FileSystem& fs, const std::string& contents) {
  ASSERT_TRUE(WriteFileAtomically(fs, kPath, contents).ok());
}

struct Values {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
};

void Announce(TraceWriter& writer, int64_t step, std::string_view scope,
              Phase phase, Values& values) {
  const TensorRef out = {.name = "out",
                         .dtype = DType::kF32,
                         .shape = {2, 3},
                         .data = values.x.data()};
  writer.OnOperation({.step = step,
                      .phase = phase,
                      .scope = scope,
                      .operation = "in_proj",
                      .first_sample = 8,
                      .inputs = {&out, 1},
                      .outputs = {&out, 1}});
}

// Two operations, one backward operation, and the fields, for each step.
void WriteSteps(FileSystem& fs, const TraceOptions& options, int64_t first,
                int64_t last, Values values = {}) {
  const auto writer = TraceWriter::Open(fs, kPath, 0, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int64_t step = first; step <= last; ++step) {
    Announce(**writer, step, "layers.3.mixer", Phase::kForward, values);
    Announce(**writer, step, "layers.30", Phase::kForward, values);
    Announce(**writer, step, "layers.3.mixer", Phase::kBackward, values);
    ASSERT_TRUE((*writer)
                    ->RecordFields(step, 0, {{"loss", "ab"}, {"grads", "cd"}})
                    .ok());
  }
  ASSERT_TRUE((*writer)->Close().ok());
}

struct Counts {
  int operations = 0, phases = 0, steps = 0, modules = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

Counts Count(const Trace& trace) {
  Counts counts;
  for (const trace::Record& record : trace.records) {
    counts.operations += record.has_operation();
    counts.phases += record.has_phase_end();
    counts.steps += record.has_step_end();
    counts.modules += record.has_module_end();
  }
  return counts;
}

Counts CountsFor(const TraceOptions& options) {
  MemoryFileSystem fs;
  WriteSteps(fs, options, 1, 4);
  const auto trace = ReadTrace(fs, kPath);
  EXPECT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->torn_bytes, 0u);
  return Count(*trace);
}

TEST(TraceWriterTest, LevelsStepsAndScopesChooseRecords) {
  EXPECT_EQ(CountsFor({.level = TraceLevel::kStep}), (Counts{0, 0, 4}));
  EXPECT_EQ(CountsFor({.level = TraceLevel::kPhase}), (Counts{0, 8, 4}));
  EXPECT_EQ(CountsFor({.level = TraceLevel::kModule}), (Counts{0, 8, 4, 12}));
  EXPECT_EQ(CountsFor({.level = TraceLevel::kOperation}), (Counts{12, 8, 4}));
  EXPECT_EQ(CountsFor({.level = TraceLevel::kKernel}), (Counts{12, 8, 4}));
  EXPECT_EQ(
      CountsFor(
          {.level = TraceLevel::kOperation, .first_step = 2, .last_step = 3}),
      (Counts{6, 4, 2}));
  EXPECT_EQ(CountsFor({.level = TraceLevel::kOperation, .scope = "layers.3"}),
            (Counts{8, 8, 4}));
}

TEST(TraceWriterTest, ARecordHoldsNamesShapesAndTheFingerprintOfN11) {
  MemoryFileSystem fs;
  WriteSteps(fs, {.level = TraceLevel::kOperation, .inputs = true}, 7, 7);
  const auto trace = ReadTrace(fs, kPath);
  ASSERT_TRUE(trace.ok());
  const trace::Record& record = trace->records[0];
  EXPECT_EQ(record.step(), 7);
  EXPECT_EQ(record.phase(), "forward");
  EXPECT_EQ(record.operation().scope(), "layers.3.mixer");
  EXPECT_EQ(record.operation().operation(), "in_proj");
  EXPECT_EQ(record.operation().first_sample(), 8u);
  EXPECT_EQ(record.operation().inputs_size(), 1);
  const trace::Tensor& out = record.operation().outputs(0);
  EXPECT_EQ(out.name(), "out");
  EXPECT_EQ(out.dtype(), "F32");
  EXPECT_EQ(out.count(), 6);
  const Values values;
  const Fingerprint expected = FingerprintBytes(values.x.data(), 24);
  EXPECT_EQ(out.lane0(), expected.lane[0]);
  EXPECT_EQ(out.lane1(), expected.lane[1]);
  EXPECT_EQ(trace->records.back().step_end().fields().at("loss"), "ab");
}

TEST(TraceWriterTest, EqualRunsGiveEqualBytesAndAChangedBitDoesNot) {
  for (const TraceLevel level :
       {TraceLevel::kPhase, TraceLevel::kModule, TraceLevel::kOperation}) {
    MemoryFileSystem a, b, c;
    Values changed;
    changed.x[5] = 6.0000005f;
    WriteSteps(a, {.level = level}, 1, 2);
    WriteSteps(b, {.level = level}, 1, 2);
    WriteSteps(c, {.level = level}, 1, 2, changed);
    EXPECT_EQ(ReadOrDie(a), ReadOrDie(b));
    EXPECT_NE(ReadOrDie(a), ReadOrDie(c));
  }
}

TEST(TraceWriterTest, RowsAndBoxesHaveTheFingerprintOfTheirPlace) {
  // The [2, 3] box at [1, 2] of a [4, 6] tensor, once by rows of the whole,
  // once packed.
  std::vector<float> whole(24), packed;
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = 1.5f * i;
  for (const int row : {1, 2}) {
    for (const int column : {2, 3, 4})
      packed.push_back(whole[row * 6 + column]);
  }
  const std::vector<int64_t> shape = {2, 3}, global = {4, 6}, start = {1, 2};
  const TensorRef strided = {.name = "x",
                             .dtype = DType::kF32,
                             .shape = shape,
                             .data = &whole[8],
                             .row_stride_bytes = 24,
                             .global_shape = global,
                             .held = {{{1, 3}}, {{2, 5}}}};
  const TensorRef contiguous = {.name = "x",
                                .dtype = DType::kF32,
                                .shape = shape,
                                .data = packed.data(),
                                .global_shape = global,
                                .held = {{{1, 3}}, {{2, 5}}}};
  const Fingerprint expected =
      FingerprintBox(packed.data(), DType::kF32, global, start, shape);
  EXPECT_EQ(FingerprintOf(contiguous).value, expected);
  EXPECT_EQ(FingerprintOf(strided).value, expected);
  EXPECT_EQ(FingerprintOf(strided).shape, global);
}

TEST(TraceReaderTest, EveryCutOfTheTailLeavesTheRecordsBeforeIt) {
  MemoryFileSystem fs;
  WriteSteps(fs, {.level = TraceLevel::kOperation}, 1, 1);
  const std::string whole = ReadOrDie(fs);
  const size_t records = ReadTrace(fs, kPath)->records.size();
  size_t least = records, refused = 0;
  for (size_t size = whole.size(); size-- > 0;) {
    Overwrite(fs, whole.substr(0, size));
    const auto trace = ReadTrace(fs, kPath);
    if (!trace.ok()) {  // not even a header
      ++refused;
      continue;
    }
    EXPECT_LE(trace->records.size(), least) << size;
    least = trace->records.size();
    EXPECT_LT(least, records);
  }
  EXPECT_EQ(least, 0u);
  EXPECT_LT(refused, 40u);  // magic and header are short
}

TEST(TraceReaderTest, ATailOfZerosIsTorn) {
  MemoryFileSystem fs;
  WriteSteps(fs, {}, 1, 3);
  Overwrite(fs, ReadOrDie(fs) + std::string(512, '\0'));
  const auto trace = ReadTrace(fs, kPath);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->records.size(), 3u);
  EXPECT_EQ(trace->torn_bytes, 512u);
}

TEST(TraceReaderTest, NoFlippedBitPassesUnnoticed) {
  MemoryFileSystem fs;
  WriteSteps(fs, {}, 1, 3);
  const std::string whole = ReadOrDie(fs);
  int damaged = 0, torn = 0;
  for (size_t i = 0; i < whole.size() * 8; ++i) {
    std::string changed = whole;
    changed[i / 8] ^= static_cast<char>(1 << (i % 8));
    Overwrite(fs, changed);
    const auto trace = ReadTrace(fs, kPath);
    if (!trace.ok()) {
      ++damaged;
    } else {
      EXPECT_GT(trace->torn_bytes, 0u) << "bit " << i;
      EXPECT_LT(trace->records.size(), 3u) << "bit " << i;
      ++torn;
    }
  }
  EXPECT_GT(damaged, 0);
  EXPECT_GT(torn, 0);
}

TEST(TraceReaderTest, RefusesWhatIsNoTrace) {
  MemoryFileSystem fs;
  for (const std::string contents : {"", "LSTRACE\x02", "hello, world"}) {
    Overwrite(fs, contents);
    EXPECT_EQ(ReadTrace(fs, kPath).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ReadTrace(fs, "/none").status().code(),
            absl::StatusCode::kNotFound);
}

// A trace whose only record is a header of the given schema, framed by hand.
std::string HandMade(uint32_t schema) {
  trace::Record record;
  record.mutable_header()->set_schema(schema);
  record.mutable_header()->set_level("step");
  const std::string body = record.SerializeAsString();
  const std::string length = {static_cast<char>(body.size()), 0, 0, 0};
  const uint32_t crc = Crc32c(length + body);
  std::string text("LSTRACE\x01", 8);
  text += length;
  for (int shift = 0; shift < 32; shift += 8) {
    text.push_back(static_cast<char>(crc >> shift));
  }
  return text + body;
}

TEST(TraceReaderTest, RefusesAnotherSchema) {
  MemoryFileSystem fs;
  Overwrite(fs, HandMade(2));
  EXPECT_TRUE(ReadTrace(fs, kPath).ok());  // the bytes of TRACE_FORMAT.md
  for (const uint32_t other : {1u, 3u}) {
    Overwrite(fs, HandMade(other));
    const auto trace = ReadTrace(fs, kPath);
    EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(trace.status().message())
                  .find("schema " + std::to_string(other)),
              std::string::npos);
    EXPECT_FALSE(TraceWriter::Open(fs, kPath, 0, {}).ok());
  }
}

TEST(TraceWriterTest, ContinuesAfterATornTail) {
  MemoryFileSystem whole, fs;
  WriteSteps(whole, {.level = TraceLevel::kOperation}, 1, 3);
  WriteSteps(fs, {.level = TraceLevel::kOperation}, 1, 2);
  Overwrite(fs, ReadOrDie(fs) + std::string("\x20\0\0\0torn", 8));
  WriteSteps(fs, {.level = TraceLevel::kOperation}, 3, 3);
  EXPECT_EQ(ReadOrDie(fs), ReadOrDie(whole));
}

TEST(TraceWriterTest, StartsAnewInAFileWithoutAByte) {
  MemoryFileSystem whole, fs;
  Overwrite(fs, "");
  WriteSteps(fs, {}, 1, 1);
  WriteSteps(whole, {}, 1, 1);
  EXPECT_EQ(ReadOrDie(fs), ReadOrDie(whole));
}

TEST(TraceWriterTest, RefusesToContinueAnotherRankOrLevel) {
  MemoryFileSystem fs;
  WriteSteps(fs, {}, 1, 1);
  EXPECT_FALSE(TraceWriter::Open(fs, kPath, 1, {}).ok());
  EXPECT_FALSE(
      TraceWriter::Open(fs, kPath, 0, {.level = TraceLevel::kPhase}).ok());
}

TEST(TraceWriterTest, AFullDiskIsReportedAndStopsNothing) {
  MemoryFileSystem fs;
  const auto writer =
      TraceWriter::Open(fs, kPath, 0, {.level = TraceLevel::kOperation});
  ASSERT_TRUE(writer.ok());
  fs.SetCapacity(0);
  Values values;
  Announce(**writer, 1, "layers.3.mixer", Phase::kForward, values);
  EXPECT_EQ((*writer)->status().code(), absl::StatusCode::kResourceExhausted);
  Announce(**writer, 1, "layers.3.mixer", Phase::kForward, values);
  EXPECT_FALSE((*writer)->RecordFields(1, 0, {}).ok());
}

TEST(TraceLevelTest, NamesGoBothWays) {
  for (const char* name : {"step", "phase", "module", "operation", "kernel"}) {
    EXPECT_STREQ(NameOf(*TraceLevelFromName(name)), name);
  }
  const auto wrong = TraceLevelFromName("operations");
  EXPECT_NE(std::string(wrong.status().message()).find("write 'operation'"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
