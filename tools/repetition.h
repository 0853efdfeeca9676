// How repetitive a row of tokens is, and how much of it is no text.
//
// What it is: plain counts over one sample or document, for a person who looks
// for the cause of a loss spike: a run of one token, few distinct ones, n-grams
// that come again and again, bytes that no text has. What it is not: a filter
// of data, or a judgement: what is usual depends on the source (explanation.h).
#ifndef LOCKSTEP_TOOLS_REPETITION_H_
#define LOCKSTEP_TOOLS_REPETITION_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

inline constexpr int64_t kLongestNgram = 4;

struct NgramCounts {
  int64_t n = 1;
  int64_t windows = 0;            // tokens - n + 1, or 0
  int64_t distinct = 0;           // among them
  int64_t top_count = 0;          // of the most frequent one
  std::vector<int32_t> top = {};  // of equally frequent ones the smallest

  double top_share() const { return Share(top_count); }
  // Of the windows, those whose n-gram stands earlier as well.
  double repeated_share() const { return Share(windows - distinct); }

 private:
  double Share(int64_t count) const {
    return windows == 0
               ? 0
               : static_cast<double>(count) / static_cast<double>(windows);
  }
};

struct Repetition {
  int64_t tokens = 0;
  int64_t longest_run = 0;  // of one token
  int64_t run_first = 0;    // position where it begins; of equals the first
  int32_t run_token = 0;
  std::array<NgramCounts, kLongestNgram> ngrams = {};  // n = 1 .. 4

  double distinct_share() const {  // distinct tokens / tokens
    return tokens == 0 ? 0
                       : static_cast<double>(ngrams[0].distinct) /
                             static_cast<double>(tokens);
  }
  double repeated_share() const { return ngrams.back().repeated_share(); }
};

Repetition MeasureRepetition(std::span<const int32_t> tokens);

// Of the bytes, those that are control characters other than tab, line feed,
// form feed and carriage return, or no UTF-8. A character cut off at either
// end of `text` is none of these.
double NonTextShare(std::string_view text);

// `text` on one line, at most `most` characters of it (0: all): line ends and
// backslashes escaped, other control characters and invalid bytes as \xHH.
std::string VisibleText(std::string_view text, int64_t most);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPETITION_H_
