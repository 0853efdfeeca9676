// What happened to a run, as its ledger and the manifests of its launches say.
//
// What it is: whatever makes a run another sample than its recipe says. What it
// is not: a judgement of it (lineage.h). Why so: who asks for the cause of a
// difference asks this too, and needs none of the statistics.
#ifndef LOCKSTEP_TOOLS_COMPARE_LINEAGE_EVENT_H_
#define LOCKSTEP_TOOLS_COMPARE_LINEAGE_EVENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// What happened to a run: "layout" "changed after step 40: ...".
struct LineageEvent {
  std::string key;
  std::string what;
  bool operator==(const LineageEvent&) const = default;
};

// The events of ledger and launches that matter; launches whose steps were made
// again later count no more. An allowed dirty build is none: binaries are
// compared as such.
absl::StatusOr<std::vector<LineageEvent>> LineageEvents(
    FileSystem& fs, const std::string& run_dir);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_LINEAGE_EVENT_H_
