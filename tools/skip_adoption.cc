#include "tools/skip_adoption.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kEvent[] = "skip_list";

absl::Status Record(RunFolder& folder, const SkipRange& range, int64_t step) {
  return folder.Record(kEvent,
                       {{"first", static_cast<int64_t>(range.first)},
                        {"last", static_cast<int64_t>(range.last)},
                        {"adopted_at", static_cast<int64_t>(range.adopted_at)},
                        {"samples", static_cast<int64_t>(range.count())},
                        {"step", step}});
}

// A run that went back may ask again for what came too late before.
bool Covers(const std::vector<SkipRange>& ranges, const SkipRange& wanted) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const SkipRange& r) {
    return r.SameSamples(wanted) && r.begin() <= wanted.begin();
  });
}

std::string Describe(const SkipRange& range) {
  const std::string asked =
      absl::StrCat("skip list: samples ", range.first, " to ", range.last,
                   ", adopted at sample ", range.adopted_at);
  if (range.count() == 0) {
    return absl::StrCat(asked, ": no effect, they were all before it");
  }
  if (range.begin() == range.first) {
    return absl::StrCat(asked, ": ", range.count(), " passed over");
  }
  return absl::StrCat(asked, ": ", range.count(), " passed over, from sample ",
                      range.begin(), " on; those before were read");
}

}  // namespace

absl::StatusOr<std::vector<SkipRange>> RecordedSkips(
    const std::vector<LedgerEntry>& entries) {
  std::vector<SkipRange> ranges;
  for (const LedgerEntry& entry : entries) {
    if (entry.event == "launch" || entry.event == "fork") ranges.clear();
    if (entry.event != kEvent) continue;
    SkipRange range;
    if (!absl::SimpleAtoi(entry.Field("first"), &range.first) ||
        !absl::SimpleAtoi(entry.Field("last"), &range.last) ||
        !absl::SimpleAtoi(entry.Field("adopted_at"), &range.adopted_at) ||
        range.first > range.last || range.last >= kSampleEnd) {
      return ManifestMismatch("a skip_list event names no range of samples",
                              absl::StrCat("ledger.jsonl, seq ", entry.seq),
                              "the ledger was written by another version");
    }
    ranges.push_back(range);
  }
  return ranges;
}

absl::StatusOr<std::vector<std::string>> AdoptSkips(
    const std::vector<SkipRange>& asked, RunFolder& folder, Stepper& stepper) {
  const auto step = static_cast<int64_t>(stepper.state().iterations);
  LS_ASSIGN_OR_RETURN(std::vector<SkipRange> recorded,
                      RecordedSkips(folder.ledger_entries()));
  LS_ASSIGN_OR_RETURN(std::vector<SkipRange> wanted,
                      stepper.skip_list().Ranges());
  for (SkipRange range : asked) {
    range.adopted_at = stepper.state().cursor;
    wanted.push_back(range);
  }
  for (const SkipRange& range : wanted) {
    if (Covers(recorded, range)) continue;
    LS_RETURN_IF_ERROR(Record(folder, range, step));
    recorded.push_back(range);
  }
  std::vector<std::string> notes;
  for (const SkipRange& range : recorded) notes.push_back(Describe(range));
  LS_RETURN_IF_ERROR(stepper.PlanSkips(std::move(recorded)));
  return notes;
}

}  // namespace lockstep
