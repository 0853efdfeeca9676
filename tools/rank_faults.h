// A rank's faults on purpose, and the file systems that they break.
//
// What it is: one plan for the rank's own thread, and one for the thread that
// writes its checkpoints, which is at another step. What it is not: an order
// (determinism/fault.h). Why so: what breaks is a function of the text and the
// step, and a save is of the step whose state it writes, however far training
// has gone meanwhile.
#ifndef LOCKSTEP_TOOLS_RANK_FAULTS_H_
#define LOCKSTEP_TOOLS_RANK_FAULTS_H_

#include <string>
#include <vector>

#include "determinism/fault.h"
#include "determinism/fault_file_system.h"
#include "determinism/file_system.h"

namespace lockstep {

class RankFaults {
 public:
  // `base` outlives it.
  RankFaults(const std::vector<FaultSpec>& specs, int rank, FileSystem* base)
      : steps_(specs, rank),
        saves_(specs, rank),
        base_(base),
        step_files_(base, &steps_),
        save_files_(base, &saves_) {}

  FaultPlan* steps() { return &steps_; }
  FaultPlan* saves() { return &saves_; }
  FileSystem* step_files() { return steps_.empty() ? base_ : &step_files_; }
  FileSystem* save_files() { return saves_.empty() ? base_ : &save_files_; }

  // Texts of those that neither has met.
  std::vector<std::string> Unmet() const;

 private:
  FaultPlan steps_, saves_;
  FileSystem* const base_;
  FaultFileSystem step_files_, save_files_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_FAULTS_H_
