// The verdict on a list of differences: go on, or stop and say how to go on.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/difference_table.h"
#include "ckpt/manifest_compare.h"
#include "determinism/check.h"
#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// "layout" and "layout.data" both admit "layout.data".
bool Admits(std::string_view allowed, std::string_view key) {
  return key == allowed || (key.starts_with(allowed) &&
                            key.substr(allowed.size()).starts_with('.'));
}

bool IsAllowed(const ManifestDifference& difference,
               const std::vector<std::string>& allow) {
  return std::any_of(allow.begin(), allow.end(), [&](const std::string& key) {
    return Admits(key, difference.key);
  });
}

// Keys of recipes are not ours to know: anything with a dot may be one.
bool CanBeAKey(const std::string& key,
               const std::vector<ManifestDifference>& differences) {
  if (key.find('.') != std::string::npos && key.front() != '.') return true;
  for (const ManifestDifference& difference : differences) {
    if (Admits(key, difference.key)) return true;
  }
  for (const DifferenceRow& row : DifferenceRows()) {
    if (Admits(key, row.key)) return true;
  }
  return false;
}

absl::Status CheckAllowed(const std::vector<ManifestDifference>& differences,
                          const std::vector<std::string>& allow,
                          const std::string& reason) {
  std::vector<std::string_view> valid;
  for (const DifferenceRow& row : DifferenceRows()) {
    const size_t dot = row.key.find('.');
    if (!row.key.starts_with('(')) valid.push_back(row.key.substr(0, dot));
  }
  for (const std::string& key : allow) {
    if (!key.empty() && CanBeAKey(key, differences)) continue;
    return InputError(
        "no difference can have the key \"" + key + "\"", "--allow",
        "perhaps you mean \"" + std::string(NearestName(key, valid)) + "\"");
  }
  if (!allow.empty() && reason.empty()) {
    return InputError("--allow without a reason", "--reason",
                      "add --reason TEXT; the ledger keeps it");
  }
  return absl::OkStatus();
}

std::string Shorten(const std::string& text) {
  constexpr size_t kLongest = 160;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::string Describe(const ManifestDifference& difference) {
  return "\n    " + difference.key + ": saved " + Shorten(difference.saved) +
         ", now " + Shorten(difference.current) + " (" + difference.why + ")";
}

}  // namespace

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHarmless:
      return "harmless";
    case Verdict::kRefused:
      return "refused";
    case Verdict::kNever:
      return "never";
  }
  LS_CHECK(false) << static_cast<int>(verdict);
  return "";
}

std::vector<ManifestDifference> AllowedDifferences(
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow) {
  std::vector<ManifestDifference> result;
  for (const ManifestDifference& difference : differences) {
    if (difference.verdict == Verdict::kRefused &&
        IsAllowed(difference, allow)) {
      result.push_back(difference);
    }
  }
  return result;
}

absl::Status CheckDifferences(
    const std::vector<ManifestDifference>& differences,
    const std::vector<std::string>& allow, const std::string& reason) {
  LS_RETURN_IF_ERROR(CheckAllowed(differences, allow, reason));
  std::string lines, keys;
  int64_t refused = 0, never = 0;
  for (const ManifestDifference& difference : differences) {
    if (difference.verdict == Verdict::kNever) {
      ++never;
      lines += Describe(difference) + " -- never accepted";
    } else if (difference.verdict == Verdict::kRefused &&
               !IsAllowed(difference, allow)) {
      ++refused;
      lines += Describe(difference);
      keys += (keys.empty() ? "" : ",") + difference.key;
    }
  }
  if (refused + never == 0) return absl::OkStatus();
  const std::string todo =
      never > 0 ? "put back what was, or start a new run in another folder"
                : "put back what was, or accept with --allow " + keys +
                      " --reason TEXT";
  return ManifestMismatch(
      "the run was made of something else: " + std::to_string(refused + never) +
          " differences" + lines,
      "manifest.json against this launch", todo);
}

}  // namespace lockstep
