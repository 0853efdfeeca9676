// What a resume or a fork accepts: two manifests, a rung, and one table.
//
// Every difference between the manifest that a run was saved under and the one
// it is about to go on under gets a verdict from the table of FORMAT.md, which
// is printed from the same rows (DifferenceTable). Harmless ones are recorded;
// refused ones stop the run unless the user allows each by its key and says
// why; "never" ones cannot be allowed, because there is no meaning in which
// the run would go on. Decides nothing about single tensors: load.h does.

#ifndef CKPT_MANIFEST_COMPARE_H_
#define CKPT_MANIFEST_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/manifest.h"
#include "determinism/guarantee.h"

namespace lockstep {

enum class Verdict : uint8_t { kHarmless, kRefused, kNever };
const char* NameOf(Verdict verdict);

struct ManifestDifference {
  std::string key;    // what --allow takes: "commit", "optimizer.lr"
  std::string saved;  // "(absent)" where only the other has it
  std::string current;
  Verdict verdict = Verdict::kRefused;
  std::string why;  // the table's reason
};

// Sorted by key. `guarantee` is the rung to hold: pass the saved one, or a
// higher one; a lowered guarantee is itself a difference.
std::vector<ManifestDifference> CompareManifests(const Manifest& saved,
                                                 const Manifest& current,
                                                 Guarantee guarantee);

// The same for a fork, which is a new run: what it computes may differ, and is
// listed; what its state means may not.
std::vector<ManifestDifference> CompareForFork(const Manifest& parent,
                                               const Manifest& current);

// OK when no difference is refused or `allow` names each that is (by its key,
// or by what stands before a dot: "layout" admits "layout.data"). Otherwise
// ManifestMismatch with all of them, both values, and how to allow them.
// InputError: keys without a reason; a key that no difference can have.
absl::Status CheckDifferences(
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow, const std::string& reason);

// The refused ones that `allow` admits: for the ledger's allowed_difference.
std::vector<ManifestDifference> AllowedDifferences(
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow);

// The table in Markdown, as it stands in FORMAT.md.
std::string DifferenceTable();

}  // namespace lockstep

#endif  // CKPT_MANIFEST_COMPARE_H_
