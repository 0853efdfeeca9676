#include "tools/bisect/ledger_events.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "determinism/status.h"
#include "tools/compare/lineage_event.h"

namespace lockstep {
namespace {

// Whether a skip list may have made it: the step read other samples, or differs
// in the list alone, which is state.
bool MayBeASkip(const Evidence& evidence) {
  if (evidence.ReadOtherSamples()) return true;
  return !evidence.fingerprinted ||
         evidence.fields == std::vector<std::string>{"fingerprint.state"};
}

void Add(const std::vector<LineageEvent>& events,
         const std::vector<LineageEvent>& others, bool of_a,
         Evidence& evidence) {
  for (const LineageEvent& event : events) {
    if (event.key == "fault") continue;
    if (std::count(others.begin(), others.end(), event) > 0) continue;
    evidence.other_skips |= event.key == "skip_list";
    BisectDifference difference = {
        .key = event.key,
        .explains = event.key == "skip_list" && MayBeASkip(evidence)};
    (of_a ? difference.a : difference.b) = event.what;
    evidence.differences.push_back(std::move(difference));
  }
}

}  // namespace

absl::Status TakeEvents(FileSystem& fs, const std::string& a,
                        const std::string& b, Evidence& evidence) {
  LS_ASSIGN_OR_RETURN(const auto of_a, LineageEvents(fs, a));
  LS_ASSIGN_OR_RETURN(const auto of_b, LineageEvents(fs, b));
  Add(of_a, of_b, true, evidence);
  Add(of_b, of_a, false, evidence);
  return absl::OkStatus();
}

}  // namespace lockstep
