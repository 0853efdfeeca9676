// What the environment says, with and without MPI in the build.

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

}  // namespace lockstep
