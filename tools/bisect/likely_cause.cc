#include "tools/bisect/likely_cause.h"

#include "absl/strings/str_cat.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

std::string KeysOf(const BisectResult& r) {
  std::string keys;
  for (const BisectDifference& d : r.differences) {
    if (d.explains) absl::StrAppend(&keys, keys.empty() ? "" : ", ", d.key);
  }
  return keys;
}

}  // namespace

std::vector<CauseRow> AllCauses() {
  std::vector<CauseRow> all;
  for (const auto half : {CausesOfRuns(), CausesOfOperations()}) {
    all.insert(all.end(), half.begin(), half.end());
  }
  return all;
}

std::vector<CauseRow> LikelyCauses(const BisectResult& result) {
  std::vector<CauseRow> causes;
  if (result.equal()) return causes;
  for (const CauseRow& row : AllCauses()) {
    if (row.fits(result)) causes.push_back(row);
  }
  return causes;
}

std::string LikelyCause(const BisectResult& result) {
  const std::vector<CauseRow> causes = LikelyCauses(result);
  if (causes.empty()) return "";
  std::string text = causes.front().cause;
  const std::string keys = KeysOf(result);
  if (!keys.empty()) absl::StrAppend(&text, ": ", keys);
  return absl::StrCat(text, "; ", causes.front().check);
}

}  // namespace lockstep
