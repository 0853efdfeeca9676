// What the folders of two runs say of where they part, before anything is run.
//
// What it is: the first step whose lines differ and in which fields, the
// differences of the launches that made it, what their ledgers say happened to
// one of them, and the last checkpoint that both have and that is equal. What
// it is not: a replay. Faults that were planted are no evidence and are left
// out.
#ifndef LOCKSTEP_TOOLS_BISECT_EVIDENCE_H_
#define LOCKSTEP_TOOLS_BISECT_EVIDENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"
#include "tools/recorded_stop.h"

namespace lockstep {

struct BisectDifference {
  std::string key = {}, a = {}, b = {};
  // It must change the bits (recipe, seed, data), or below layout_invariant
  // must (layout), so no operation is to blame.
  bool explains = false;
};

struct Evidence {
  int64_t first_a = 0, last_a = 0;  // steps on record
  int64_t first_b = 0, last_b = 0;
  // 0: none differs. One may be looked into though its lines are equal: the one
  // that stopped a run, or, without fingerprints, that saved another state.
  int64_t step = 0;
  // What differs beside the lines; 0: nothing. The first step that one run
  // alone has on record, and the first checkpoint of both whose states differ.
  int64_t missing_step = 0, different_checkpoint = 0;
  // The step that stopped a run by its numbers (recorded_stop.h), one or both,
  // and that the other did or was stopped by as well: no line differs before
  // it, and it is done again like one whose lines do. 0: none.
  RecordedStop stop_a = {}, stop_b = {};
  bool stopped_a() const { return step != 0 && stop_a.step == step; }
  bool stopped_b() const { return step != 0 && stop_b.step == step; }
  std::vector<std::string> fields = {};  // "loss", "fingerprint.grads", ...
  std::vector<BisectDifference> differences = {};
  int64_t equal_checkpoint = 0;  // 0: the seed
  // Steps of all complete ones, and of those that are equal in both.
  std::vector<int64_t> checkpoints_a = {}, checkpoints_b = {};
  std::vector<int64_t> equal_checkpoints = {};
  bool fingerprinted = true;    // both runs, at this step
  bool replicas = false;        // either run has some, at this step
  bool other_skips = false;     // by their ledgers
  bool across_layouts = false;  // the two have other ones, at this step
  // What moves no bit and changes which operations there are: run b is done
  // again with these settings of run a ("key=value").
  std::vector<std::string> as_a = {};
  std::vector<std::string> as_b = {};  // run b's values of the same
  // The step was the first after a resume, in one of them.
  bool after_load_a = false, after_load_b = false;

  bool Explained() const;
  // The first step that both have went on from saved states that differ, as a
  // fork's does whose parent had gone wrong.
  bool GrewApart() const;
  bool Differs(const std::string& field) const;
  // By the fields of the step, of which some are there without fingerprints.
  bool ReadOtherSamples() const;
  // Where a replay begins that ends in the step. Replicas keep copies of each
  // other's weights, which no line and no checkpoint has, so with these it does
  // the step before as well.
  int64_t Start() const;
  int64_t FirstTraced() const;
};

// InputError where there is no run, or no step in common.
absl::StatusOr<Evidence> GatherEvidence(FileSystem& fs, const std::string& a,
                                        const std::string& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_EVIDENCE_H_
