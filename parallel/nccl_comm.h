// The place of the communicator among GPUs, by NCCL.
//
// What it is: the seam, so that callers are written against it now. What it is
// not: built. Why so: the interface is decided by three transports, not two,
// and a build with the toolkit proves that NCCL's header and this one agree.
// Float sums will go through all-to-all and reduction.h's orders on the device:
// NCCL's own reductions promise no order.

#ifndef PARALLEL_NCCL_COMM_H_
#define PARALLEL_NCCL_COMM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "parallel/communicator.h"

namespace lockstep {

struct NcclCommOptions {
  int device = 0;
  int64_t timeout_ms = 600'000;
};

// `bootstrap` exchanges NCCL's id. Always InputError: "not built yet".
absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclComm(
    Communicator& bootstrap, const NcclCommOptions& options);

// Version of the NCCL headers this was compiled with, 0 without.
int NcclHeaderVersion();

}  // namespace lockstep

#endif  // PARALLEL_NCCL_COMM_H_
