// The answer of a build without MPI.

#include "determinism/status.h"
#include "parallel/mpi_comm.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<MpiRuntime>> MpiRuntime::Start(
    const MpiCommOptions&) {
  return InputError("this build has no MPI", "--define=lockstep_mpi=off",
                    "build with Open MPI, or run the ranks as threads: "
                    "--ranks N");
}

}  // namespace lockstep
