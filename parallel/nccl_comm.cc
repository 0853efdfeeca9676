// With the toolkit: proves that NCCL's header is there and compiles. The calls
// that the communicator will be made of are named, so that a change of theirs
// is seen here first.

#include "parallel/nccl_comm.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#define LOCKSTEP_NCCL_VERSION NCCL_VERSION_CODE
// Deadlines need a communicator that does not block and can be aborted.
static_assert(sizeof(ncclUniqueId) == NCCL_UNIQUE_ID_BYTES);
static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 0),
              "ncclCommSplit and non-blocking communicators are needed");
#else
#define LOCKSTEP_NCCL_VERSION 0
#endif

#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclComm(
    Communicator&, const NcclCommOptions&) {
  return InputError("the NCCL communicator is not built yet",
                    "parallel/nccl_comm.cc",
                    "run the ranks as threads (--ranks N) or under mpirun");
}

int NcclHeaderVersion() { return LOCKSTEP_NCCL_VERSION; }

}  // namespace lockstep
