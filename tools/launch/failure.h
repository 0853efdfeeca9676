// What became of a job that failed: which rank, on which host, in which step.
//
// What it is: the last words that its ranks left, and what mpirun said, read
// together. What it is not: a judgement what to do (launch_machine.h).
#ifndef LOCKSTEP_TOOLS_LAUNCH_FAILURE_H_
#define LOCKSTEP_TOOLS_LAUNCH_FAILURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "tools/launch/launch_machine.h"

namespace lockstep {

// "mpirun noticed that process rank 1 with PID 0 on node b exited on signal 9";
// rank -1 where it says nothing of the kind.
struct MpirunWords {
  int64_t rank = -1;
  std::string node = {};
  std::string what = {};  // the line
};
MpirunWords ReadMpirun(const std::string& said);

// The rank that most others waited for, in words since `started_ms`; -1: none.
// Words of another attempt (LOCKSTEP_ATTEMPT) are none of this job's: a rank
// behind a pulled cable says its last ones when the next job is at work.
struct RankWords {
  int64_t lost_rank = -1;
  int64_t step = 0;   // the last that any of them was in
  int64_t words = 0;  // how many ranks have left some
};
RankWords ReadRankWords(FileSystem& fs, const std::string& run_dir,
                        int64_t started_ms, const std::string& attempt);

// Everything together. `hosts` as the job was placed on them.
JobEnd DescribeEnd(FileSystem& fs, const std::string& run_dir, int exit_code,
                   const std::string& said, int64_t started_ms,
                   const std::string& attempt,
                   const std::vector<LaunchHost>& hosts);

// "137 in step 6 on b", or "4 (checkpoints exist and none is usable)": such an
// end came before any step, or says itself where.
std::string TextOfEnd(const JobEnd& end);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_FAILURE_H_
