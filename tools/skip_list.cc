#include "tools/skip_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kWord = 8, kRangeBytes = 3 * kWord;

absl::Status NoRange(std::string_view text, const std::string& what) {
  return InputError(what, "--skip-samples " + std::string(text),
                    "write the first and the last sample to pass over, both "
                    "inclusive, such as 40-47");
}

// Digits and nothing else: no sign, no blank.
absl::StatusOr<uint64_t> ParseSample(std::string_view part,
                                     std::string_view text) {
  const bool digits = !part.empty() && std::all_of(part.begin(), part.end(),
                                                   absl::ascii_isdigit);
  if (!digits) return NoRange(text, "this is no range of samples");
  uint64_t sample = 0;
  if (!absl::SimpleAtoi(absl::string_view(part.data(), part.size()), &sample) ||
      sample >= kSampleEnd) {
    return NoRange(text, absl::StrCat("sample ", std::string(part),
                                      " is beyond the last, 2^63 - 1"));
  }
  return sample;
}

void AppendWord(uint64_t word, std::string& bytes) {
  for (size_t i = 0; i < kWord; ++i) {
    bytes.push_back(static_cast<char>(word >> (8 * i) & 0xff));
  }
}

uint64_t WordAt(const std::string& bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < kWord; ++i) {
    word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i]))
            << (8 * i);
  }
  return word;
}

}  // namespace

absl::StatusOr<SkipRange> ParseSkipRange(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    return NoRange(text, "this is no range of samples");
  }
  SkipRange range;
  LS_ASSIGN_OR_RETURN(range.first, ParseSample(text.substr(0, dash), text));
  LS_ASSIGN_OR_RETURN(range.last, ParseSample(text.substr(dash + 1), text));
  if (range.first > range.last) {
    return NoRange(text, "the range ends before it begins");
  }
  if (range.count() == kSampleEnd) {
    return NoRange(text, "the range leaves no sample at all");
  }
  return range;
}

absl::StatusOr<std::vector<SkipRange>> ParseSkipRanges(
    const std::vector<std::string>& texts) {
  std::vector<SkipRange> ranges;
  for (const std::string& text : texts) {
    LS_ASSIGN_OR_RETURN(const SkipRange range, ParseSkipRange(text));
    ranges.push_back(range);
  }
  return ranges;
}

SampleStream::SampleStream(const std::vector<SkipRange>& ranges) {
  std::vector<Gap> gaps;
  for (const SkipRange& range : ranges) {
    if (range.count() > 0) gaps.push_back({range.begin(), range.last + 1});
  }
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  for (const Gap& gap : gaps) {
    if (gaps_.empty() || gap.begin > gaps_.back().end) {
      gaps_.push_back(gap);
    } else {
      gaps_.back().end = std::max(gaps_.back().end, gap.end);
    }
  }
}

absl::StatusOr<std::vector<uint64_t>> SampleStream::Take(uint64_t cursor,
                                                         int64_t count) const {
  std::vector<uint64_t> samples;
  auto gap = gaps_.begin();
  for (uint64_t sample = cursor; count > 0; --count, ++sample) {
    while (gap != gaps_.end() && gap->end <= sample) ++gap;
    if (gap != gaps_.end() && gap->begin <= sample) sample = gap->end;
    if (sample >= kSampleEnd) {
      return InputError("no sample is left below 2^63",
                        absl::StrCat("from sample ", cursor, " on"),
                        "the skip list holds all of them: fork from a "
                        "checkpoint before it was adopted");
    }
    samples.push_back(sample);
  }
  return samples;
}

uint64_t SampleStream::CursorAfter(uint64_t cursor, uint64_t count) const {
  if (count == 0) return cursor;
  for (const Gap& gap : gaps_) {
    if (gap.end <= cursor) continue;
    const uint64_t before = gap.begin > cursor ? gap.begin - cursor : 0;
    if (count <= before) break;
    count -= before;
    cursor = gap.end;
  }
  return count > kSampleEnd - cursor ? kSampleEnd : cursor + count;
}

uint64_t SampleStream::Left(uint64_t cursor) const {
  uint64_t left = 0;
  for (const Gap& gap : gaps_) {
    if (gap.end <= cursor) continue;
    if (gap.begin > cursor) left += gap.begin - cursor;
    cursor = gap.end;
  }
  return left + (kSampleEnd - cursor);
}

absl::Status CheckSamplesAreLeft(const std::vector<SkipRange>& ranges,
                                 uint64_t cursor, uint64_t needed) {
  const uint64_t left = SampleStream(ranges).Left(cursor);
  if (left >= needed) return absl::OkStatus();
  return InputError(
      absl::StrCat("the run needs ", needed,
                   " more samples, and with these ranges passed over only ",
                   left, " are left below 2^63"),
      absl::StrCat("--skip-samples, from sample ", cursor, " on"),
      "give ranges that end; a run that has adopted such a range cannot take "
      "it back: fork from a checkpoint before it was adopted");
}

std::vector<uint64_t> NewlySkipped(const std::vector<SkipRange>& ranges) {
  std::vector<uint64_t> counts;
  uint64_t before = kSampleEnd;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto end = ranges.begin() + static_cast<ptrdiff_t>(i) + 1;
    const uint64_t left = SampleStream({ranges.begin(), end}).Left(0);
    counts.push_back(before - left);
    before = left;
  }
  return counts;
}

void SkipList::Adopt(const SkipRange& range) {
  for (const uint64_t word : {range.first, range.last, range.adopted_at}) {
    AppendWord(word, bytes_);
  }
}

absl::StatusOr<std::vector<SkipRange>> SkipList::Ranges() const {
  std::vector<SkipRange> ranges;
  bool sound = bytes_.size() % kRangeBytes == 0;
  for (size_t at = 0; sound && at < bytes_.size(); at += kRangeBytes) {
    const SkipRange range = {WordAt(bytes_, at), WordAt(bytes_, at + kWord),
                             WordAt(bytes_, at + 2 * kWord)};
    sound = range.first <= range.last && range.last < kSampleEnd &&
            range.adopted_at <= kSampleEnd;
    ranges.push_back(range);
  }
  if (sound) return ranges;
  return ManifestMismatch("the restored skip list is no list of ranges",
                          "state skip_list/ranges",
                          "resume from another checkpoint");
}

}  // namespace lockstep
