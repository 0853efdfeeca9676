// Samples that a run passes over: which, since when, and what is left.
//
// What it is: ranges of global sample indices, each adopted at a cursor; the
// stream of samples without them; and the list as registered state. What it is
// not: a decision to skip (a person's, `train --skip-samples`), or an order:
// no other sample moves. Why so: a range acts from its adoption on and never
// backwards, so it holds [max(first, adopted_at), last], and what a run reads
// is a function of (cursor, list) alone, at whatever place it is resumed.
#ifndef LOCKSTEP_TOOLS_SKIP_LIST_H_
#define LOCKSTEP_TOOLS_SKIP_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/state.h"

namespace lockstep {

// Global indices lie below this.
inline constexpr uint64_t kSampleEnd = uint64_t{1} << 63;

struct SkipRange {
  uint64_t first = 0;  // as asked for, inclusive
  uint64_t last = 0;
  uint64_t adopted_at = 0;  // the cursor then

  uint64_t begin() const { return first > adopted_at ? first : adopted_at; }
  uint64_t count() const { return begin() <= last ? last - begin() + 1 : 0; }
  bool SameSamples(const SkipRange& other) const {
    return first == other.first && last == other.last;
  }
  friend bool operator==(const SkipRange&, const SkipRange&) = default;
};

// "40-47", both inclusive. InputError, naming the text, for what is no range:
// a sign, an end before the beginning, an index of 2^63 or more, all indices.
absl::StatusOr<SkipRange> ParseSkipRange(std::string_view text);
absl::StatusOr<std::vector<SkipRange>> ParseSkipRanges(
    const std::vector<std::string>& texts);

// The global order without some ranges.
class SampleStream {
 public:
  explicit SampleStream(const std::vector<SkipRange>& ranges = {});

  // The next `count` samples from `cursor` on, ascending. InputError if there
  // are not as many below 2^63.
  absl::StatusOr<std::vector<uint64_t>> Take(uint64_t cursor,
                                             int64_t count) const;
  // The cursor once `count` samples are consumed from `cursor` on: the last of
  // them + 1, or `cursor` for none. At most 2^63.
  uint64_t CursorAfter(uint64_t cursor, uint64_t count) const;
  // Samples from `cursor` on, below 2^63.
  uint64_t Left(uint64_t cursor) const;

 private:
  struct Gap {
    uint64_t begin;
    uint64_t end;  // exclusive
  };
  std::vector<Gap> gaps_;  // ascending, disjoint, none touches the next
};

// OK if a run that stands at `cursor` finds `needed` more samples beside the
// ranges; else InputError: such a run would end in the middle.
absl::Status CheckSamplesAreLeft(const std::vector<SkipRange>& ranges,
                                 uint64_t cursor, uint64_t needed);

// Samples of each range that no range before it in the list passes over.
std::vector<uint64_t> NewlySkipped(const std::vector<SkipRange>& ranges);

// The ranges a run has adopted, in that order.
class SkipList : public Stateful {
 public:
  explicit SkipList(StateRegistry& registry)
      : Stateful(registry, "skip_list") {}

  void Adopt(const SkipRange& range);
  // ManifestMismatch if what was restored is no list.
  absl::StatusOr<std::vector<SkipRange>> Ranges() const;

  void VisitState(StateVisitor& visitor) override {
    visitor.Bytes("ranges", StateGroup::kData, bytes_);
  }

 private:
  // Per range first, last and adopted_at, each u64 little-endian: what is
  // saved is what is used.
  std::string bytes_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SKIP_LIST_H_
