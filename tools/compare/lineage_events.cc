#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "ckpt/ledger_head.h"
#include "ckpt/manifest.h"
#include "determinism/status.h"
#include "tools/compare/lineage_event.h"
#include "tools/launches.h"

namespace lockstep {
namespace {

struct Launch {
  int64_t from_step = 0;  // it made the steps after this one
  Manifest manifest;
};

std::string LayoutText(const Manifest::Layout& layout) {
  return absl::StrCat(layout.world, " ranks, data ", layout.data, " x tensor ",
                      layout.tensor, " x pipeline ", layout.pipeline);
}

// Ascending; of steps that were made twice the later launch has them.
absl::StatusOr<std::vector<Launch>> LaunchesOf(
    FileSystem& fs, const std::string& run_dir,
    const std::vector<LedgerEntry>& entries) {
  std::vector<Launch> launches;
  for (const LedgerEntry& entry : entries) {
    if (!BeginsSteps(entry) || entry.Field("manifest").empty()) continue;
    Launch launch;
    if (!absl::SimpleAtoi(entry.Field("step"), &launch.from_step)) {
      launch.from_step = 0;  // a `launch`
    }
    LS_ASSIGN_OR_RETURN(launch.manifest,
                        ReadKeptManifest(fs, run_dir, entry.Field("manifest")));
    std::erase_if(launches, [&](const Launch& earlier) {
      return earlier.from_step >= launch.from_step;
    });
    launches.push_back(std::move(launch));
  }
  return launches;
}

// What the ledger says of layouts that changed and moved bits, by step; of
// steps that were made again the last word holds.
std::map<int64_t, std::string> RecordedLayouts(
    const std::vector<LedgerEntry>& entries) {
  std::map<int64_t, std::string> changes;
  for (const LedgerEntry& entry : entries) {
    const bool change = entry.event == "layout_change";
    int64_t step = 0;
    if (!change && !BeginsSteps(entry)) continue;
    if (!absl::SimpleAtoi(entry.Field("step"), &step)) step = 0;
    changes.erase(changes.lower_bound(step), changes.end());
    if (!change || entry.Field("bits") == "unchanged") continue;
    changes[step] =
        absl::StrCat(entry.Field("from"), " -> ", entry.Field("to"),
                     ", a new lineage (", entry.Field("reason"), ")");
  }
  return changes;
}

void AddLayouts(std::map<int64_t, std::string> recorded,
                const std::vector<Launch>& launches,
                std::vector<LineageEvent>& events) {
  // A change that only the manifests of the launches show is one as well.
  for (size_t i = 1; i < launches.size(); ++i) {
    const Manifest& now = launches[i].manifest;
    const std::string before = LayoutText(launches[i - 1].manifest.layout);
    if (now.guarantee == Guarantee::kLayoutInvariant ||
        before == LayoutText(now.layout)) {
      continue;
    }
    recorded.try_emplace(launches[i].from_step,
                         absl::StrCat(before, " -> ", LayoutText(now.layout)));
  }
  for (const auto& [step, what] : recorded) {
    events.push_back(
        {"layout", absl::StrCat("changed after step ", step, ": ", what)});
  }
}

void AddFaults(const std::vector<Launch>& launches,
               std::vector<LineageEvent>& events) {
  for (const Launch& launch : launches) {
    for (const std::string& fault : launch.manifest.faults) {
      const LineageEvent event = {"fault", absl::StrCat("on purpose: ", fault)};
      if (std::count(events.begin(), events.end(), event) == 0) {
        events.push_back(event);
      }
    }
  }
}

// "" for an event that does not make a run another sample.
std::string WhatHappened(const LedgerEntry& entry) {
  if (entry.event == "allowed_difference") {
    const std::string what = entry.Field("differences");
    // A stamp; the binaries themselves are compared.
    if (absl::StrContains(what, "dirty build of") &&
        !absl::StrContains(what, " -> ")) {
      return "";
    }
    return absl::StrCat(what, ", allowed: ", entry.Field("reason"));
  }
  if (entry.event == "skip_list" && entry.Field("samples") != "0") {
    return absl::StrCat("passes over samples ", entry.Field("first"), "-",
                        entry.Field("last"), " from ",
                        entry.Field("adopted_at"), " on");
  }
  return "";
}

// What else happened is not known then.
absl::Status AddLostLines(FileSystem& fs, const std::string& run_dir,
                          const LedgerReport& ledger,
                          std::vector<LineageEvent>& events) {
  if (ledger.entries.empty()) {
    events.push_back(
        {"ledger",
         "is gone: what happened to this run is not on record (`lockstep ckpt "
         "verify`)"});
    return absl::OkStatus();
  }
  LS_ASSIGN_OR_RETURN(const LedgerHead newest, ReadLedgerHead(fs, run_dir));
  if (newest.head.empty() || newest.damaged || ledger.Contains(newest.head)) {
    return absl::OkStatus();
  }
  events.push_back({"ledger",
                    "its end was cut off: what happened last is not on record "
                    "(`lockstep ckpt verify`)"});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LineageEvent>> LineageEvents(
    FileSystem& fs, const std::string& run_dir) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  std::vector<LineageEvent> events;
  LS_RETURN_IF_ERROR(AddLostLines(fs, run_dir, ledger, events));
  for (const LedgerEntry& entry : ledger.entries) {
    std::string what = WhatHappened(entry);
    if (!what.empty()) events.push_back({entry.event, std::move(what)});
  }
  LS_ASSIGN_OR_RETURN(const auto launches,
                      LaunchesOf(fs, run_dir, ledger.entries));
  AddFaults(launches, events);
  AddLayouts(RecordedLayouts(ledger.entries), launches, events);
  if (!launches.empty() && !launches.back().manifest.parent.run_id.empty()) {
    const Manifest::Parent& parent = launches.back().manifest.parent;
    events.push_back(
        {"fork", absl::StrCat("from checkpoint ",
                              parent.checkpoint_sha256.substr(0, 16),
                              " of step ", parent.step)});
  }
  return events;
}

}  // namespace lockstep
