// An audit of a run: segments between its checkpoints, done again.
//
// What it is: which segments there are, which of them are taken, and for each
// whether its steps recur and end in the saved state, byte by byte. What it is
// not: a check of hashes alone (ckpt/verify_run.h): who rewrites a checkpoint
// and all hashes with care passes that, and not this. Why so: whether a result
// came from the recipe that it is said to come from can be asked of a part, at
// the price of the part, and the chance of being caught can be stated.
//
// A segment goes from one checkpoint to the next that is there; the first from
// the seed, unless the run is a fork. Which are taken: a systematic sample, so
// they are spread over the run, and every segment is taken with a probability
// of exactly taken/all. The seed decides; it should not be known to whoever
// wrote the run.
#ifndef LOCKSTEP_TOOLS_AUDIT_H_
#define LOCKSTEP_TOOLS_AUDIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/diff.h"
#include "determinism/file_system.h"

namespace lockstep {

struct Segment {
  int64_t from = 0;  // a checkpoint's step; 0: the seed
  int64_t to = 0;    // a checkpoint's step
  friend bool operator==(const Segment&, const Segment&) = default;
};

// Ascending. InputError where there is no run, or no two ends.
absl::StatusOr<std::vector<Segment>> SegmentsOf(FileSystem& fs,
                                                const std::string& run_dir);

// `count` places of 0 .. all - 1, ascending, each with the same probability.
std::vector<size_t> SpreadPlaces(size_t all, size_t count, uint64_t seed);

struct SegmentVerdict {
  Segment segment = {};
  int64_t steps = 0;                           // done again
  int ranks = 1;                               // that did them
  int64_t first_difference = 0;                // step whose line does not recur
  std::vector<std::string> fields = {};        // of that line
  std::vector<TensorDifference> tensors = {};  // of the state at the end
  std::string error = {};  // damaged, gone, or stopped in a step
  std::vector<std::string> notes = {};
  bool ok() const {
    return first_difference == 0 && tensors.empty() && error.empty();
  }
};

// On the layout that the run had, its ranks as threads of this process, each of
// `threads` (0: as `train` has it). An error only where nothing can be said of
// any segment (another build's recipe, data that are gone).
absl::StatusOr<SegmentVerdict> AuditSegment(FileSystem& fs,
                                            const std::string& run_dir,
                                            const Segment& segment,
                                            int64_t threads);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_AUDIT_H_
