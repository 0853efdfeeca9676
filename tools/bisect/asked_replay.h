// A run's steps, done again by the program that made it.
//
// What it is: another program's verb `replay`, called with a trace, and what it
// answered. What it is not: trust: what came back is read like any file. Why
// so: two runs of two programs can only be told apart where each does its own.
#ifndef LOCKSTEP_TOOLS_BISECT_ASKED_REPLAY_H_
#define LOCKSTEP_TOOLS_BISECT_ASKED_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {

// As TracedReplay, of a side that has a program.
absl::StatusOr<ReplayedSide> AskReplay(const SideOptions& options);

// Of each step its fingerprints by field.
using StepFields = std::map<int64_t, std::map<std::string, std::string>>;

// From `from` to the side's step, with fingerprints that the run did not take.
absl::StatusOr<StepFields> AskFields(FileSystem& fs, const SideOptions& options,
                                     int64_t from);

// What another program's `replay --json` says of so many steps;
// InvalidArgument with a plain reason for what is none.
absl::StatusOr<ReplayedSide> ReadReplayAnswer(const std::string& text,
                                              size_t steps = 1);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_ASKED_REPLAY_H_
