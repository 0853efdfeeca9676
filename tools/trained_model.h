// A run's model, loaded for use and not for training: eval and generate.
//
// What it is: the newest checkpoint that can be loaded (or the one asked for)
// in a stepper that nobody steps. What it is not: a writer: it takes no lock
// and leaves no trace in the run's folder. Why so: reading a run must not
// disturb it, even while it trains.
#ifndef LOCKSTEP_TOOLS_TRAINED_MODEL_H_
#define LOCKSTEP_TOOLS_TRAINED_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/find.h"
#include "ckpt/manifest.h"
#include "data/dataset.h"
#include "parallel/communicator.h"
#include "tools/run_config.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {

class TrainedModel {
 public:
  // `dataset` may be null where only the weights are used. A newer checkpoint
  // that does not verify, or cannot be loaded though it does, is passed over,
  // and stderr says so and which step is used; not one that is named.
  static absl::StatusOr<std::unique_ptr<TrainedModel>> Load(
      FileSystem& fs, const RunConfig& config, const std::string& run_dir,
      const std::string& checkpoint, const Machine& machine,
      const Dataset* dataset);

  Stepper& stepper() { return *stepper_; }
  int64_t step() const { return step_; }

 private:
  TrainedModel() = default;
  absl::Status LoadNewest(FileSystem& fs, const std::string& run_dir,
                          ResumeRequest request);

  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Stepper> stepper_;
  int64_t step_ = 0;
};

// InputError where there is no run at `run_dir`.
absl::Status CheckRunExists(FileSystem& fs, const std::string& run_dir);

// The config of an existing run, from its manifest alone.
absl::StatusOr<RunConfig> ConfigOfRun(FileSystem& fs,
                                      const std::string& run_dir);

// The config that a manifest keeps, under `sets` over it. `where` names the
// manifest. Relative paths of data are not resolved.
absl::StatusOr<RunConfig> ConfigOfManifest(
    const Manifest& manifest, const std::string& where,
    const std::vector<std::string>& sets = {});

// "key: A -> B" of each of `sets` that makes another model of it, in which a
// checkpoint's state has no place.
absl::StatusOr<std::vector<std::string>> OtherModelBySets(
    const Manifest& manifest, const std::string& where,
    const std::vector<std::string>& sets);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAINED_MODEL_H_
