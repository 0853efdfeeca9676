// What the environment says, with and without MPI in the build.

#include <algorithm>
#include <cstdlib>

#include "parallel/mpi_comm.h"

namespace lockstep {

bool StartedByMpi() {
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

int64_t ProcessesWithoutMpi() {
  // Of the step, and not of the job: a batch script is one process of many.
  const char* processes = std::getenv("SLURM_STEP_NUM_TASKS");
  if (processes == nullptr || StartedByMpi()) return 1;
  return std::max<int64_t>(std::strtoll(processes, nullptr, 10), 1);
}

}  // namespace lockstep
