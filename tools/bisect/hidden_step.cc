#include "tools/bisect/hidden_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

// A fork begins behind its parent's step, any other run at 1.
absl::StatusOr<int64_t> MissingStep(FileSystem& fs, const std::string& a,
                                    const std::string& b,
                                    const MetricsParting& m) {
  const int64_t common = std::min(m.last_a, m.last_b);
  for (const auto& [run, first] :
       {std::pair(a, m.first_a), std::pair(b, m.first_b)}) {
    LS_ASSIGN_OR_RETURN(const Manifest manifest,
                        ManifestOfStep(fs, run, common));
    if (first > manifest.parent.step + 1) return manifest.parent.step + 1;
  }
  if (m.missing != 0) return m.missing;
  return m.last_a == m.last_b ? 0 : common + 1;
}

absl::StatusOr<bool> TookNoFingerprints(FileSystem& fs, const std::string& a,
                                        const std::string& b, int64_t step) {
  for (const std::string& run : {a, b}) {
    LS_ASSIGN_OR_RETURN(const Manifest manifest, ManifestOfStep(fs, run, step));
    LS_ASSIGN_OR_RETURN(const RunConfig config,
                        ConfigOfManifest(manifest, run + "'s manifest"));
    if (!config.metrics.fingerprints) return true;
  }
  return false;
}

}  // namespace

int64_t RefusedStep(const MetricsParting& m, const Evidence& evidence) {
  const int64_t by_a = evidence.stop_a.step, by_b = evidence.stop_b.step;
  const auto has = [](int64_t step, int64_t first, int64_t last, int64_t stop) {
    const bool behind_last = step == stop && (last == 0 || last == step - 1);
    return behind_last || (first <= step && step <= last);
  };
  for (const int64_t step : {by_a, by_b}) {
    if (step == 0 || (m.missing != 0 && m.missing < step)) continue;
    if (has(step, m.first_a, m.last_a, by_a) &&
        has(step, m.first_b, m.last_b, by_b)) {
      return step;
    }
  }
  return 0;
}

absl::Status FindHiddenStep(FileSystem& fs, const std::string& a,
                            const std::string& b, const MetricsParting& metrics,
                            Evidence& evidence) {
  if (metrics.compared > 0) {
    LS_ASSIGN_OR_RETURN(evidence.missing_step, MissingStep(fs, a, b, metrics));
  }
  if (evidence.different_checkpoint == 0) {
    evidence.step = RefusedStep(metrics, evidence);
    if (evidence.step != 0) evidence.fields = {"stop"};
    return absl::OkStatus();
  }
  const int64_t saved = evidence.different_checkpoint;
  LS_ASSIGN_OR_RETURN(const bool blind, TookNoFingerprints(fs, a, b, saved));
  if (blind) evidence.step = saved;
  return absl::OkStatus();
}

}  // namespace lockstep
