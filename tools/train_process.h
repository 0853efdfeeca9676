// One rank of a training launch, from options to a finished run.
//
// What it is: the set-up, stage by stage, and the loop. What it is not: the
// ranks themselves (train_ranks.h) or the answer on stdout (train_verb.cc). Why
// so: a stage that one rank cannot pass ends all of them before the next one
// begins, so nobody waits for a rank that has gone home.
#ifndef LOCKSTEP_TOOLS_TRAIN_PROCESS_H_
#define LOCKSTEP_TOOLS_TRAIN_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "model/model_layout.h"
#include "tools/fork.h"
#include "tools/progress.h"
#include "tools/rank_faults.h"
#include "tools/rank_log.h"
#include "tools/run_folder.h"
#include "tools/run_setup.h"
#include "tools/skip_list.h"
#include "tools/stepper.h"
#include "tools/train.h"
#include "tools/train_ranks.h"
#include "tools/verbs.h"

namespace lockstep {

// Members in order of life.
class TrainProcess {
 public:
  TrainProcess(const TrainOptions& options, const RankHandle& rank)
      : options_(options), rank_(rank), faults_text_(options.faults) {}

  absl::StatusOr<TrainResult> Run();

 private:
  bool first() const { return rank_.world->rank() == 0; }
  absl::Status Agree(const absl::Status& mine) const;
  absl::Status SetUp();
  absl::Status Check();
  absl::Status OpenFolderAndData();
  absl::Status OpenData();
  absl::Status MakeStepper();
  absl::Status OpenFork();
  absl::Status StartRun();
  absl::Status StartFolder(Manifest manifest);
  absl::StatusOr<TrainResult> Train();
  void OpenLog();
  std::string Ending(const absl::StatusOr<TrainResult>& result) const;

  TrainOptions options_;
  RankHandle rank_;
  std::vector<std::string> faults_text_;
  RealClock clock_;
  RankLog log_;
  std::unique_ptr<RankFaults> faults_;
  FileSystem* fs_ = PosixFileSystem();
  std::unique_ptr<ForkSource> fork_;  // null: no fork
  std::vector<SkipRange> skips_;
  std::unique_ptr<ResolvedRun> run_;
  Machine machine_;
  std::unique_ptr<RunFolder> folder_;  // of the first rank
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LayoutGroups> groups_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<std::string> notices_, skip_notes_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_PROCESS_H_
