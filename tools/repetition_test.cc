#include "tools/repetition.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lockstep {
namespace {

TEST(RepetitionTest, CountsOfARowThatAPersonCanCheck) {
  //                                 0  1  2  3  4  5  6  7
  const std::vector<int32_t> row = {5, 5, 7, 7, 7, 5, 5, 7};
  const Repetition r = MeasureRepetition(row);
  EXPECT_EQ(r.tokens, 8);
  EXPECT_EQ(r.longest_run, 3);
  EXPECT_EQ(r.run_first, 2);
  EXPECT_EQ(r.run_token, 7);
  EXPECT_EQ(r.distinct_share(), 2 / 8.0);
  // 55 57 77 77 75 55 57: four distinct; 55, 57 and 77 twice each.
  EXPECT_EQ(r.ngrams[1].windows, 7);
  EXPECT_EQ(r.ngrams[1].distinct, 4);
  EXPECT_EQ(r.ngrams[1].top_count, 2);
  EXPECT_EQ(r.ngrams[1].top, (std::vector<int32_t>{5, 5}));
  EXPECT_EQ(r.ngrams[1].repeated_share(), 3 / 7.0);
  // 557 577 777 775 755 557
  EXPECT_EQ(r.ngrams[2].distinct, 5);
  EXPECT_EQ(r.ngrams[2].top, (std::vector<int32_t>{5, 5, 7}));
  EXPECT_EQ(r.ngrams[3].distinct, 5);
  EXPECT_EQ(r.repeated_share(), 0);
}

TEST(RepetitionTest, OneTokenOverAndOverIsAllRepeated) {
  const Repetition r = MeasureRepetition(std::vector<int32_t>(100, 9));
  EXPECT_EQ(r.longest_run, 100);
  EXPECT_EQ(r.distinct_share(), 0.01);
  for (const NgramCounts& counts : r.ngrams) {
    EXPECT_EQ(counts.top_share(), 1) << counts.n;
    EXPECT_EQ(counts.repeated_share(), static_cast<double>(counts.windows - 1) /
                                           static_cast<double>(counts.windows));
  }
}

TEST(RepetitionTest, ShorterThanAnNgram) {
  const Repetition none = MeasureRepetition({});
  EXPECT_EQ(none.longest_run, 0);
  EXPECT_EQ(none.distinct_share(), 0);
  const Repetition two = MeasureRepetition(std::vector<int32_t>{1, 2});
  EXPECT_EQ(two.ngrams[3].windows, 0);
  EXPECT_EQ(two.ngrams[3].top_share(), 0);
  EXPECT_EQ(two.distinct_share(), 1);
}

TEST(RepetitionTest, NonTextIsControlAndInvalidBytes) {
  EXPECT_EQ(NonTextShare(""), 0);
  EXPECT_EQ(NonTextShare("a\tb\r\n\f\xC3\xA4\xE2\x82\xAC"), 0);
  EXPECT_EQ(NonTextShare(std::string("ab\0\x01", 4)), 0.5);
  EXPECT_EQ(NonTextShare("a\x7f"), 0.5);
  // Overlong, surrogate, beyond U+10FFFF, a byte that no UTF-8 has.
  EXPECT_EQ(NonTextShare("\xC0\x80"), 1);
  EXPECT_EQ(NonTextShare("\xED\xA0\x80"), 1);
  EXPECT_EQ(NonTextShare("\xF4\x90\x80\x80"), 1);
  EXPECT_EQ(NonTextShare("\xFF\xFF"), 1);
  EXPECT_EQ(NonTextShare("\x80\x80\x80\x80"), 0.25);
  // A sample's ends cut characters without regard for them.
  EXPECT_EQ(NonTextShare("\x82\xAC and \xE2\x82"), 0);
  EXPECT_EQ(NonTextShare("a\x82\xAC"), 2 / 3.0);
}

TEST(RepetitionTest, VisibleTextIsOneLineOfPrintableUtf8) {
  EXPECT_EQ(VisibleText("a\nb\\c\t\x01\xFF", 0), "a\\nb\\\\c\\x09\\x01\\xFF");
  EXPECT_EQ(VisibleText("\xC3\xA4\xC2\x85", 0), "\xC3\xA4\\xC2\\x85");
  EXPECT_EQ(VisibleText("\xE2\x82", 0), "\\xE2\\x82");
  EXPECT_EQ(VisibleText("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xA4\xC3\xB6...");
  EXPECT_EQ(VisibleText("ab", 2), "ab");
}

}  // namespace
}  // namespace lockstep
