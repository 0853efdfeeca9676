// A look at what is being loaded, by threads of its own. Inside ckpt only.
//
// What it is: fingerprints of masters and moments, taken from the memory they
// are loaded to, and what no trained state can hold. What it is not: a verdict
// (load_check.h), nor what a load waits for before all boxes are there
// (arrivals.h).

#ifndef CKPT_LOAD_LOOK_H_
#define CKPT_LOAD_LOOK_H_

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ckpt/arrivals.h"
#include "ckpt/moment_bound.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"

namespace lockstep {

// Of this rank.
struct LookedAt {
  std::vector<TensorFingerprint> shared;
  std::vector<std::string> insanities;
};

class LoadLook {
 public:
  // Borrows both; all that will arrive is expected already.
  LoadLook(const StateRegistry& registry,
           const std::optional<MomentBound>& bound, Arrivals& arrivals);
  // Of a load that failed: what did not arrive is not waited for.
  ~LoadLook();
  LoadLook(const LoadLook&) = delete;
  LoadLook& operator=(const LoadLook&) = delete;

  // Waits for the last box.
  LookedAt Finish();

 private:
  Arrivals& arrivals_;
  LookedAt result_;
  std::thread thread_;
};

}  // namespace lockstep

#endif  // CKPT_LOAD_LOOK_H_
