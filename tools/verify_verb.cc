// `lockstep verify RUN --segments K`: parts of a run, done again.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/clock.h"
#include "determinism/status.h"
#include "tools/audit.h"
#include "tools/audit_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// Of a segment that does not recur so many tensors are named.
constexpr size_t kNamed = 4;

struct Audit {
  std::vector<SegmentVerdict> verdicts = {};
  size_t all = 0;
  uint64_t seed = 0;
  bool ok() const {
    return std::all_of(verdicts.begin(), verdicts.end(),
                       [](const SegmentVerdict& v) { return v.ok(); });
  }
};

std::string ChanceText(const Audit& audit) {
  return absl::StrCat(audit.verdicts.size(), "/", audit.all);
}

std::string WhatIsWrong(const SegmentVerdict& v) {
  if (!v.error.empty()) return v.error;
  std::string text;
  if (v.first_difference != 0) {
    absl::StrAppend(&text, "step ", v.first_difference, " came out otherwise (",
                    absl::StrJoin(v.fields, ", "), ")");
  }
  for (size_t i = 0; i < std::min(v.tensors.size(), kNamed); ++i) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", v.tensors[i].name, " ",
                    v.tensors[i].what);
  }
  if (v.tensors.size() > kNamed) {
    absl::StrAppend(&text, "; and ", v.tensors.size() - kNamed,
                    " tensors more");
  }
  return text;
}

std::string AuditText(const Audit& audit) {
  std::string text;
  for (const SegmentVerdict& v : audit.verdicts) {
    absl::StrAppend(&text, "steps ", v.segment.from + 1, " to ", v.segment.to,
                    ": ",
                    v.ok() ? absl::StrCat("recur to the bit, and end in the "
                                          "saved state")
                           : "DIFFER: " + WhatIsWrong(v),
                    "\n");
    for (const std::string& note : v.notes) {
      absl::StrAppend(&text, "  ", note, "\n");
    }
  }
  absl::StrAppend(&text, audit.verdicts.size(), " of ", audit.all,
                  " segments, chosen by seed ", audit.seed,
                  ": one tampered segment is among them with probability ",
                  ChanceText(audit), "\n");
  return text;
}

std::string AuditJson(const Audit& audit) {
  Json segments = Json::array();
  for (const SegmentVerdict& v : audit.verdicts) {
    Json tensors = Json::array();
    for (const TensorDifference& d : v.tensors) tensors.push_back(d.name);
    segments.push_back({{"from", v.segment.from},
                        {"to", v.segment.to},
                        {"ok", v.ok()},
                        {"steps", v.steps},
                        {"ranks", v.ranks},
                        {"first_difference", v.first_difference},
                        {"fields", v.fields},
                        {"tensors", tensors},
                        {"error", v.error},
                        {"notes", v.notes}});
  }
  const Json json = {{"ok", audit.ok()},
                     {"segments", segments},
                     {"replayed", audit.verdicts.size()},
                     {"of", audit.all},
                     {"chance", ChanceText(audit)},
                     {"seed", audit.seed}};
  return json.dump() + "\n";
}

uint64_t ClockSeed() {
  RealClock clock;
  return static_cast<uint64_t>(clock.UnixMillis()) * 1'000'003u +
         static_cast<uint64_t>(clock.MonotonicNanos());
}

}  // namespace

absl::StatusOr<Answer> VerifyVerb(const VerifyOptions& options) {
  const auto info = PosixFileSystem()->Stat(options.path);
  return info.ok() && info->is_dir ? VerifyRunVerb(options)
                                   : VerifyRecipeVerb(options);
}

absl::StatusOr<Answer> VerifyRunVerb(const VerifyOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::vector<Segment> segments,
                      SegmentsOf(fs, options.path));
  const size_t count =
      std::min(segments.size(), static_cast<size_t>(options.segments));
  Audit audit = {.all = segments.size(),
                 .seed = options.seed ? static_cast<uint64_t>(*options.seed)
                                      : ClockSeed()};
  for (const size_t place : SpreadPlaces(segments.size(), count, audit.seed)) {
    LS_ASSIGN_OR_RETURN(
        SegmentVerdict verdict,
        AuditSegment(fs, options.path, segments[place], options.threads));
    audit.verdicts.push_back(std::move(verdict));
  }
  return Answer{options.json ? AuditJson(audit) : AuditText(audit),
                !audit.ok()};
}

}  // namespace lockstep
