// What one step did, in the fields of metrics.jsonl.
//
// What it is: a plain record; losses, norms and rates in binary64 as they were
// computed. What it is not: the file (metrics.h). Why so: the loop, the
// display, the tests and the file read the same numbers.
#ifndef LOCKSTEP_TOOLS_STEP_REPORT_H_
#define LOCKSTEP_TOOLS_STEP_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/spike_detector.h"

namespace lockstep {

struct StepReport {
  int64_t step = 0;  // 1 = the first
  int64_t updates = 0;
  bool skipped = false;
  int64_t samples_seen = 0;
  int64_t tokens_seen = 0;
  uint64_t sample_first = 0;  // global indices of this step, inclusive
  uint64_t sample_last = 0;
  int64_t valid_tokens = 0;
  double loss = 0;     // what is optimised
  double lm_loss = 0;  // its language-model part; all of it, for now
  double grad_norm = 0;
  double grad_norm_clipped = 0;
  double lr = 0;
  double loss_scale = 1;
  // Passes before the one that counts: 1 after a probe or an overflow of the
  // integer grid (N5), which `overflowed` names by tensor.
  int attempt = 0;
  std::vector<std::string> overflowed;
  // Gradient entries that vanished below the grid, by tensor.
  std::map<std::string, int64_t> below_grid;
  // Loss or norm out of proportion; with `skipped`, the reason for it.
  std::optional<Spike> spike;
  // loss grads params optimizer rng data state -> 32 hex digits (N11); empty
  // when fingerprints are off.
  std::map<std::string, std::string> fingerprint;
  // Not compared between runs.
  double step_ms = 0;
  double tokens_per_s = 0;
  double mfu = 0;
};

// The parts of a step, for whoever measures it.
enum class StepPart : uint8_t {
  kSamples,       // read
  kGradients,     // forward, backward, the loss; both passes if there are two
  kReduction,     // final gradients and their norm
  kChecks,        // finite, no spike
  kFingerprints,  // of what went in, and of what came out
  kUpdate,        // parameters, on all ranks
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_REPORT_H_
