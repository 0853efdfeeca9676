// A Stepper of a recipe, without a run's folder or a loop.
//
// What it is: the members that a step needs, in order of life, and copies of
// state between two of them. What it is not: a run: nothing is written. Why so:
// a case may have to stand between two steps, or restore a part of the state
// only, which no verb does.
#ifndef LOCKSTEP_TESTS_CASES_OWN_STEPPER_H_
#define LOCKSTEP_TESTS_CASES_OWN_STEPPER_H_

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "determinism/state.h"
#include "parallel/communicator.h"
#include "tests/train/train_rig.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {

class OwnStepper {
 public:
  // The run's folder is only looked at, for the length of its curve. Without a
  // communicator it has the one of a single rank.
  OwnStepper(const RigOptions& options, const std::string& run_dir,
             std::unique_ptr<Communicator> communicator = nullptr);

  Stepper& operator*() { return *stepper_; }
  Stepper* operator->() { return stepper_.get(); }
  // Of one step, which must succeed.
  StepReport Step();
  // The newest or the given checkpoint's state.
  void Load(const std::string& checkpoint_dir);

 private:
  std::unique_ptr<ResolvedRun> run_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Stepper> stepper_;
};

// Overwrites entries of these groups with zeros of their types.
int64_t ZeroState(const StateRegistry& registry, StateGroupSet groups);

// Sets a counter, such as "run/cursor".
void SetCounter(const StateRegistry& registry, const std::string& name,
                uint64_t value);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_CASES_OWN_STEPPER_H_
