// What a launch writes down of how it differs from what it goes on from.
//
// What it is: the differences of two manifests that a resume accepted, as its
// line of the ledger has them: harmless ones, allowed ones, and those that may
// change bits from here on. What it is not: the verdict on them
// (ckpt/manifest_compare.h). Why so: a guarantee that is lower after a resume
// must say since when, and through what.
#ifndef LOCKSTEP_TOOLS_DIFFERENCE_RECORD_H_
#define LOCKSTEP_TOOLS_DIFFERENCE_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "ckpt/manifest_compare.h"

namespace lockstep {

// "optimizer.lr: 0.1 -> 0.2" of each.
std::vector<std::string> DescribeDifferences(
    const std::vector<ManifestDifference>& differences);

struct DifferenceRecord {
  std::vector<std::string> harmless = {};
  std::vector<std::string> allowed = {};
  // "KEY: why" of all that may change bits after this; empty: nothing can.
  std::vector<std::string> may_differ = {};
};

// `allow` as CheckDifferences took it. Bits are judged as `bitwise` and higher
// rungs do, also for a run that promises less, which says so first.
DifferenceRecord RecordDifferences(
    const Manifest& saved, const Manifest& current,
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow);

// Of the step that the launch goes on from.
void AddAllAllowed(const std::vector<ManifestDifference>& allowed,
                   const std::string& reason, int64_t step, Manifest& manifest);

// Fields `harmless`, `allowed`, `bits` ("unchanged" or "may differ") and
// `may_differ`.
void AddTo(LedgerFields& fields, const DifferenceRecord& record);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DIFFERENCE_RECORD_H_
