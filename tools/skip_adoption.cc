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

// `fresh`: samples of it that no range before it passes over.
std::string Describe(const SkipRange& range, uint64_t fresh) {
  std::string text =
      absl::StrCat("skip list: samples ", range.first, " to ", range.last,
                   ", adopted at sample ", range.adopted_at, ": ");
  if (range.count() == 0) {
    return text + "no effect, they were all before it";
  }
  absl::StrAppend(&text, fresh, " passed over");
  if (fresh < range.count()) {
    absl::StrAppend(&text, " beside ", range.count() - fresh,
                    " that a range before it passes over");
  }
  if (range.begin() != range.first) {
    absl::StrAppend(&text, ", from sample ", range.begin(),
                    " on; those before were read");
  }
  return text;
}

std::vector<std::string> DescribeAll(const std::vector<SkipRange>& ranges) {
  const std::vector<uint64_t> fresh = NewlySkipped(ranges);
  std::vector<std::string> lines;
  for (size_t i = 0; i < ranges.size(); ++i) {
    lines.push_back(Describe(ranges[i], fresh[i]));
  }
  return lines;
}

// The skip_list events of the folder, run after run.
struct RunSkips {
  std::string run_id;
  std::vector<LedgerEntry> events;
  bool launched_once = true;
};

std::vector<RunSkips> SkipsByRun(const std::vector<LedgerEntry>& entries) {
  std::vector<RunSkips> runs = {RunSkips()};
  for (const LedgerEntry& entry : entries) {
    if (entry.event == "launch" || entry.event == "fork") {
      const std::string run_id = entry.Field("run_id");
      if (run_id == runs.back().run_id) {
        runs.back().launched_once = false;
      } else {
        runs.push_back({run_id, {}, true});
      }
    } else if (entry.event == "resume") {
      runs.back().launched_once = false;
    } else if (entry.event == kEvent) {
      runs.back().events.push_back(entry);
    }
  }
  return runs;
}

// What the run before this one passed over and this one, at its first launch,
// does not; "" for nothing.
std::string LeftBehind(const std::vector<LedgerEntry>& entries) {
  const std::vector<RunSkips> runs = SkipsByRun(entries);
  if (runs.size() < 2 || !runs.back().launched_once) return "";
  const RunSkips& before = runs[runs.size() - 2];
  if (before.events.empty()) return "";
  return absl::StrCat("skip list: a fresh start, without the ",
                      before.events.size(), " range(s) of run ", before.run_id,
                      ", which stood in this folder");
}

}  // namespace

absl::StatusOr<std::vector<SkipRange>> RecordedSkips(
    const std::vector<LedgerEntry>& entries) {
  std::vector<SkipRange> ranges;
  const std::vector<RunSkips> runs = SkipsByRun(entries);
  for (const LedgerEntry& entry : runs.back().events) {
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
  std::vector<SkipRange> fresh;
  for (const SkipRange& range : wanted) {
    if (Covers(recorded, range)) continue;
    fresh.push_back(range);
    recorded.push_back(range);
  }
  LS_RETURN_IF_ERROR(CheckSamplesAreLeft(recorded, stepper.state().cursor,
                                         stepper.samples_to_go()));
  std::vector<std::string> notes = DescribeAll(recorded);
  const std::string left_behind = LeftBehind(folder.ledger_entries());
  if (!left_behind.empty()) notes.insert(notes.begin(), left_behind);
  for (const SkipRange& range : fresh) {
    LS_RETURN_IF_ERROR(Record(folder, range, step));
  }
  LS_RETURN_IF_ERROR(stepper.PlanSkips(std::move(recorded)));
  return notes;
}

}  // namespace lockstep
