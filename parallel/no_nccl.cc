// The answer of a build without the CUDA toolkit.

#include "determinism/status.h"
#include "parallel/nccl_comm.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclComm(
    Communicator&, const NcclCommOptions&) {
  return InputError("the NCCL communicator is not built yet",
                    "a build without --config=cuda",
                    "run the ranks as threads (--ranks N) or under mpirun");
}

int NcclHeaderVersion() { return 0; }

}  // namespace lockstep
