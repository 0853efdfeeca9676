// Two files of lines, as a stream: what counts as equal, and where they part.
#include "tools/diff/metric_lines.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Fields = std::vector<std::string>;

std::string Line(int64_t step, int64_t ms, const std::string& grads = "ab",
                 const std::string& pad = "") {
  return absl::StrCat("{\"step\":", step, ",\"loss\":1.5,\"pad\":\"", pad,
                      "\",\"step_ms\":", ms, ",\"tokens_per_s\":", 7 * ms,
                      ",\"mfu\":0.", ms, ",\"fingerprint\":{\"data\":\"cd\",",
                      "\"grads\":\"", grads, "\"}}\n");
}

class MetricLinesTest : public testing::Test {
 protected:
  MetricsParting Compare(const std::string& a, const std::string& b) {
    EXPECT_TRUE(WriteFileAtomically(fs_, "a", a).ok());
    EXPECT_TRUE(WriteFileAtomically(fs_, "b", b).ok());
    const auto result = CompareMetricLines(fs_, "a", "b");
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.value_or(MetricsParting());
  }
  MemoryFileSystem fs_;
};

TEST_F(MetricLinesTest, TimesDoNotCountAndAllElseDoes) {
  EXPECT_TRUE(SameButForTimes(Line(1, 3), Line(1, 12345)));
  EXPECT_FALSE(SameButForTimes(Line(1, 3), Line(2, 3)));
  EXPECT_EQ(FieldsThatDiffer(Line(1, 3), Line(1, 4, "aa")),
            Fields{"fingerprint.grads"});
  EXPECT_EQ(FieldsThatDiffer("{\"a\":1}", "{\"b\":1}"), (Fields{"a", "b"}));
  EXPECT_EQ(FieldsThatDiffer("{\"a\":1}", "[]"), Fields{"line"});
  // A time of the inner object is no clock of the step.
  EXPECT_EQ(FieldsThatDiffer("{\"x\":{\"mfu\":1}}", "{\"x\":{\"mfu\":2}}"),
            Fields{"x.mfu"});
  // Another order of fields is the same line.
  EXPECT_TRUE(SameButForTimes("{\"step\":1,\"b\":2}", "{\"b\":2,\"step\":1}"));
  EXPECT_EQ(StepOfLine("{\"b\":2,\"step\":17}"), 17);
  EXPECT_EQ(StepOfLine(Line(123, 1)), 123);
  EXPECT_EQ(StepOfLine("{\"step\":\"x\"}"), -1);
}

TEST_F(MetricLinesTest, TheFirstDifferenceIsTold) {
  const std::string common = Line(1, 3) + Line(2, 3);
  MetricsParting m = Compare(common + Line(3, 1, "aa") + Line(4, 1, "bb"),
                             common + Line(3, 2, "ab") + Line(4, 2, "bc"));
  EXPECT_EQ(m.step, 3);
  EXPECT_EQ(m.fields, Fields{"fingerprint.grads"});
  EXPECT_EQ(m.compared, 4);
  EXPECT_EQ(m.last_a, 4);
  m = Compare(common, common);
  EXPECT_EQ(m.step, 0);
  EXPECT_EQ(m.compared, 2);
}

TEST_F(MetricLinesTest, LinesAreMatchedByStep) {
  // A fork begins later; another run goes on longer.
  MetricsParting m = Compare(Line(1, 1) + Line(2, 1) + Line(3, 1),
                             Line(2, 2) + Line(3, 2) + Line(4, 2));
  EXPECT_EQ(m.step, 0);
  EXPECT_EQ(m.missing, 0);
  EXPECT_EQ(m.compared, 2);
  EXPECT_EQ(m.first_b, 2);
  EXPECT_EQ(m.last_b, 4);
  // A line that is gone from the middle.
  m = Compare(Line(1, 1) + Line(2, 1) + Line(3, 1), Line(1, 2) + Line(3, 2));
  EXPECT_EQ(m.missing, 2);
  EXPECT_EQ(m.step, 0);
  // Nothing on one side.
  m = Compare(Line(1, 1), "");
  EXPECT_EQ(m.compared, 0);
  EXPECT_EQ(m.last_b, 0);
}

TEST_F(MetricLinesTest, ATornLineIsNone) {
  const MetricsParting m = Compare(Line(1, 1) + "{\"step\":2,\"lo", Line(1, 2));
  EXPECT_EQ(m.last_a, 1);
  EXPECT_EQ(m.compared, 1);
}

TEST_F(MetricLinesTest, WhatIsNoStepIsAnError) {
  for (const std::string& bad : {Line(1, 1) + Line(1, 2), Line(2, 1) + "x\n"}) {
    ASSERT_TRUE(WriteFileAtomically(fs_, "a", bad).ok());
    ASSERT_TRUE(WriteFileAtomically(fs_, "b", Line(1, 1)).ok());
    EXPECT_FALSE(CompareMetricLines(fs_, "a", "b").ok()) << bad;
  }
  const auto absent = CompareMetricLines(fs_, "nowhere", "nor/here");
  ASSERT_TRUE(absent.ok());
  EXPECT_EQ(absent->compared, 0);
}

// Lines of all lengths over many buffers: every cut falls somewhere.
TEST_F(MetricLinesTest, LinesLongerThanABuffer) {
  std::string a, b;
  for (int64_t step = 1; step <= 40; ++step) {
    const std::string pad(static_cast<size_t>(step * step * step * 60), 'x');
    a += Line(step, step, "ab", pad);
    b += Line(step, 2 * step, step < 39 ? "ab" : "aa", pad);
  }
  ASSERT_GT(a.size(), size_t{30} << 20);
  const MetricsParting m = Compare(a, b);
  EXPECT_EQ(m.compared, 40);
  EXPECT_EQ(m.step, 39);
  EXPECT_EQ(m.fields, Fields{"fingerprint.grads"});
}

// What is no JSON is no difference of the runs.
TEST_F(MetricLinesTest, ADamagedLineIsNamed) {
  const std::string good = Line(1, 3) + Line(2, 3) + Line(3, 3);
  for (const std::string& value :
       {std::string("1e999"), std::string("\"\xff\""), std::string("1.5,")}) {
    const std::string bad = Line(1, 3) + "{\"step\":2,\"loss\":" + value +
                            ",\"lr\":1}\n" + Line(3, 3);
    ASSERT_TRUE(WriteFileAtomically(fs_, "good", good).ok());
    ASSERT_TRUE(WriteFileAtomically(fs_, "bad", bad).ok());
    for (const bool swapped : {false, true}) {
      const auto result = CompareMetricLines(fs_, swapped ? "bad" : "good",
                                             swapped ? "good" : "bad");
      ASSERT_FALSE(result.ok()) << value;
      EXPECT_EQ(ExitCodeFor(result.status()), 2);
      EXPECT_NE(result.status().message().find("bad, line 2"),
                std::string::npos)
          << result.status();
    }
  }
}

// A number that was changed by hand has other bits beside it.
TEST_F(MetricLinesTest, ANumberAndItsBitsMustAgree) {
  const auto line = [&](const char* loss) {
    return absl::StrCat("{\"step\":1,\"loss\":", loss,
                        ",\"loss_bits\":\"3ff8000000000000\"}\n");
  };
  ASSERT_TRUE(WriteFileAtomically(fs_, "good", line("1.5")).ok());
  ASSERT_TRUE(WriteFileAtomically(fs_, "edited", line("1.25")).ok());
  const auto result = CompareMetricLines(fs_, "good", "edited");
  EXPECT_EQ(ExitCodeFor(result.status()), 2) << result.status();
  EXPECT_NE(result.status().message().find("loss and loss_bits"),
            std::string::npos)
      << result.status();
}

// A file that something blew up costs nothing to make, and is not held whole.
TEST_F(MetricLinesTest, ALineWithoutEndIsRefused) {
  const std::string good = Line(1, 3);
  const std::string giant =
      good + std::string(LineReader::kMostLineBytes + (2 << 20), '\0');
  ASSERT_TRUE(WriteFileAtomically(fs_, "good", good).ok());
  ASSERT_TRUE(WriteFileAtomically(fs_, "giant", giant).ok());
  const auto result = CompareMetricLines(fs_, "good", "giant");
  EXPECT_EQ(ExitCodeFor(result.status()), 2) << result.status();
  EXPECT_NE(result.status().message().find("giant"), std::string::npos);
}

// A run that took no fingerprints differs in none; one that took others does.
TEST_F(MetricLinesTest, FingerprintsCountWhereBothHaveSome) {
  const std::string none = "{\"step\":1,\"loss\":2}\n";
  const std::string some =
      "{\"step\":1,\"loss\":2,\"fingerprint\":{\"grads\":\"ab\"}}\n";
  const std::string other =
      "{\"step\":1,\"loss\":2,\"fingerprint\":{\"grads\":\"cd\"}}\n";
  EXPECT_EQ(Compare(none, some).step, 0);
  EXPECT_EQ(Compare(some, none).step, 0);
  EXPECT_EQ(Compare(some, other).fields, Fields{"fingerprint.grads"});
}

}  // namespace
}  // namespace lockstep
