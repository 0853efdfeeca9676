// The faults that a replayed rank meets again. Private to the replay: code that
// gives verdicts must not see them (visibility enforces that).
#ifndef LOCKSTEP_TOOLS_REPLAY_FAULTS_H_
#define LOCKSTEP_TOOLS_REPLAY_FAULTS_H_

#include "determinism/fault.h"
#include "tools/replay_source.h"

namespace lockstep {

struct ReplaySource::Faults {
  FaultPlan plan;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_FAULTS_H_
