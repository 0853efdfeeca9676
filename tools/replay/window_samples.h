// What a replayed window read, sample by sample: where it came from, what it
// says, its loss, how repetitive it is, how far it stands out.
//
// What it is: the samples of every rank that has losses, examined as `explain`
// does (explanation.h) and ranked against all others of the replay, those of
// the steps that lead up to the window among them. What it is not: a verdict.
// Why so: a spike that recurs was made by what its step read, and the remedy is
// chosen by reading that.
#ifndef LOCKSTEP_TOOLS_REPLAY_WINDOW_SAMPLES_H_
#define LOCKSTEP_TOOLS_REPLAY_WINDOW_SAMPLES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "data/dataset.h"
#include "tools/explanation.h"
#include "tools/replay_window.h"

namespace lockstep {

class WindowSamples {
 public:
  // `dataset` is borrowed, and is the one that the window reads.
  explicit WindowSamples(const Dataset& dataset) : dataset_(dataset) {}

  // Adds itself to what `visitor` does; this object outlives it.
  WindowVisitor Watching(WindowVisitor visitor);
  // Of each step of the window its samples, the most suspicious first.
  std::map<int64_t, std::vector<SampleExplanation>> Ranked() const;

 private:
  absl::Status Record(const Stepper& stepper, int64_t step, bool in_window);

  const Dataset& dataset_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<SampleExplanation>> steps_;
  std::vector<ReferenceSample> before_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_WINDOW_SAMPLES_H_
