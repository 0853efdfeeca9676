#include "tools/difference_record.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/guarantee.h"

namespace lockstep {

std::vector<std::string> DescribeDifferences(
    const std::vector<ManifestDifference>& differences) {
  std::vector<std::string> lines;
  for (const ManifestDifference& d : differences) {
    lines.push_back(absl::StrCat(d.key, ": ", d.saved, " -> ", d.current));
  }
  return lines;
}

DifferenceRecord RecordDifferences(
    const Manifest& saved, const Manifest& current,
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow) {
  DifferenceRecord record;
  std::vector<ManifestDifference> harmless = differences;
  std::erase_if(harmless, [](const ManifestDifference& d) {
    return d.verdict != Verdict::kHarmless;
  });
  record.harmless = DescribeDifferences(harmless);
  record.allowed = DescribeDifferences(AllowedDifferences(differences, allow));
  const Guarantee rung = std::min(saved.guarantee, current.guarantee);
  if (rung < Guarantee::kBitwise) {
    record.may_differ.push_back(absl::StrCat(
        "guarantee: ", NameOf(rung), " promises no bits after a resume"));
  }
  for (const ManifestDifference& d :
       CompareManifests(saved, current, std::max(rung, Guarantee::kBitwise))) {
    if (d.verdict == Verdict::kHarmless) continue;
    record.may_differ.push_back(absl::StrCat(d.key, ": ", d.why));
  }
  return record;
}

void AddAllAllowed(const std::vector<ManifestDifference>& allowed,
                   const std::string& reason, int64_t step,
                   Manifest& manifest) {
  for (const ManifestDifference& d : allowed) {
    AddAllowed(manifest, {d.key, d.saved, d.current, reason, step});
  }
}

void AddTo(LedgerFields& fields, const DifferenceRecord& record) {
  const bool unchanged = record.may_differ.empty();
  fields.emplace_back("harmless", record.harmless);
  fields.emplace_back("allowed", record.allowed);
  fields.emplace_back("bits",
                      std::string(unchanged ? "unchanged" : "may differ"));
  fields.emplace_back("may_differ", record.may_differ);
}

}  // namespace lockstep
