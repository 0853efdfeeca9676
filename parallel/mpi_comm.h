// A communicator among processes, by Open MPI; under `mpirun` or `srun`.
//
// Everything is built from non-blocking messages and a polling loop, never from
// MPI's own reductions: those promise no order for floats, and a blocking call
// has no deadline and cannot say whom it waits for. So bits are those of the
// thread transport, and a silent rank becomes RankLost instead of a hang. The
// fast sum is no call of MPI's either: it adds what arrives as it arrives,
// where MPI_Allreduce would be quicker for small buffers alone
// (mpi_collective.h).
//
// Messages progress inside calls of this library alone. What is to move while
// the rank computes (MoveInBackground) is looked after by a thread that sleeps
// between looks; it needs MPI_THREAD_SERIALIZED, since never two threads are in
// MPI at once. Where MPI grants MPI_THREAD_FUNNELED only, such collectives move
// when the next call is made. With the same grant another thread of the caller
// may use a communicator that no other thread uses (two_threads): its waits are
// looked at more seldom, and do not keep the rank's own from moving. With more
// ranks than cores, run with `--mca mpi_yield_when_idle 1`.
//
// no_mpi.cc answers in a build without MPI (--define=lockstep_mpi=off).

#ifndef PARALLEL_MPI_COMM_H_
#define PARALLEL_MPI_COMM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "parallel/communicator.h"

namespace lockstep {

struct MpiCommOptions {
  // How long a rank waits for the others before it calls them lost.
  int64_t timeout_ms = 600'000;
  // Longest single message; longer ones are cut (MPI counts are 32 bits).
  int64_t max_message_bytes = int64_t{1} << 30;
  // Of a reduction, per peer: bounds the memory it borrows.
  int64_t reduce_chunk_bytes = int64_t{1} << 20;
  // How long End leaves to the other ranks for their last words.
  int64_t linger_ms = 1'000;
};

// Whether a launcher started this process as one of several; asks the
// environment alone, so that a program need not start MPI to learn it.
bool StartedByMpi();

// How many processes a launcher started that know nothing of each other: srun
// does so without --mpi=pmix. 1 where none did.
int64_t ProcessesWithoutMpi();

// The MPI of this process, from MPI_Init_thread to MPI_Finalize.
class MpiRuntime {
 public:
  // InputError when the build has no MPI, Internal when MPI does not start.
  // Once a process: MPI cannot be started twice.
  static absl::StatusOr<std::unique_ptr<MpiRuntime>> Start(
      const MpiCommOptions& options = {});

  // Ends MPI, which waits for all ranks; not after a loss, when it would hang.
  // Communicators must be gone.
  virtual ~MpiRuntime() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Ranks that share this host, this one included: what divides its cores.
  virtual int local_size() const = 0;

  // Whether a second thread may use a communicator of its own.
  virtual bool two_threads() const = 0;

  // A new communicator of all ranks; a collective call.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> World() = 0;

  // Ends this process with `exit_code`, and the job with it, after linger_ms
  // in which other ranks learn of it and leave their last words.
  [[noreturn]] virtual void End(int exit_code) = 0;
};

}  // namespace lockstep

#endif  // PARALLEL_MPI_COMM_H_
