// From a recipe's path to what a run needs to start: config, folder, identity.
//
// What it is: the steps that train, eval and generate share before anything is
// computed. What it is not: opening the run for writing (run_folder.h). Why so:
// the schedule's length, the folder's name and the manifest all follow from the
// resolved recipe, and must follow in one place.
#ifndef LOCKSTEP_TOOLS_RUN_SETUP_H_
#define LOCKSTEP_TOOLS_RUN_SETUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/manifest.h"
#include "data/dataset.h"
#include "determinism/clock.h"
#include "determinism/environment.h"
#include "determinism/file_system.h"
#include "recipes/recipe.h"
#include "tools/run_config.h"

namespace lockstep {

struct ResolvedRun {
  Recipe recipe;
  RunConfig config;
  std::string run_dir;
  int64_t schedule_length_samples = 0;
  bool keeps_schedule = false;  // of an existing run, or a fork of its parent's
};

// Reads the recipe; `run_dir` empty takes runs/<recipe>-<8 of trajectory>. An
// existing run keeps the schedule length that it resolved at its step 0, and so
// does a fork of `parent` unless its recipe has another length or curve; a
// `fresh` start in the folder of another run has nothing of that.
absl::StatusOr<ResolvedRun> ResolveRun(FileSystem& fs,
                                       const std::string& recipe_path,
                                       const std::vector<std::string>& sets,
                                       const std::string& run_dir,
                                       const Manifest* parent = nullptr,
                                       bool fresh = false);

// The same for a launch of `ranks` ranks: where the recipe leaves parallel.data
// open, it is what the ranks are enough for. InputError, with the nearest
// numbers of ranks, where the layout takes another one.
absl::StatusOr<ResolvedRun> ResolveLayout(FileSystem& fs,
                                          const std::string& recipe_path,
                                          const std::vector<std::string>& sets,
                                          const std::string& run_dir,
                                          const Manifest* parent, int ranks,
                                          bool fresh);

// --threads, else OMP_NUM_THREADS, else the cores. InputError for nonsense.
absl::StatusOr<int> ChooseThreads(int64_t asked);

struct Machine {
  int threads = 1;
  Isa isa = Isa::kScalar;
};
// --threads, OMP_NUM_THREADS and LOCKSTEP_ISA.
absl::StatusOr<Machine> ChooseMachine(int64_t threads);

// Everything that the run depends on, as of now. A new run_id each time.
absl::StatusOr<Manifest> DescribeRun(FileSystem& fs, const ResolvedRun& run,
                                     const Dataset& dataset,
                                     const Machine& machine, Clock& clock,
                                     const std::vector<std::string>& faults);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_SETUP_H_
