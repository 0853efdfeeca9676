// Prints what collectives cost: `comm_bench 2` over threads, `mpirun -np 2
// comm_bench` over processes.

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "determinism/status.h"
#include "parallel/comm_bench.h"
#include "parallel/mpi_comm.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

absl::Status Report(Communicator& comm, const char* transport) {
  LS_ASSIGN_OR_RETURN(const std::vector<CommMeasurement> all,
                      MeasureCommunicator(comm, {}));
  if (comm.rank() != 0) return absl::OkStatus();
  std::printf("%-8s %5s %-28s %10s %12s %10s %8s\n", "over", "ranks", "call",
              "bytes", "us a call", "MB/s", "of copy");
  for (const CommMeasurement& one : all) {
    std::printf("%-8s %5d %-28s %10lld %12.2f %10.1f %8.4f\n", transport,
                comm.size(), one.name.c_str(),
                static_cast<long long>(one.bytes), one.call_s * 1e6,
                one.rate * 1e-6, one.ratio);
  }
  return absl::OkStatus();
}

absl::Status RunMpi() {
  LS_ASSIGN_OR_RETURN(const auto mpi, MpiRuntime::Start());
  LS_ASSIGN_OR_RETURN(const auto world, mpi->World());
  return Report(*world, "mpi");
}

int Main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
  const absl::Status status =
      ranks > 0 ? RunThreadRanks(ranks,
                                 [](Communicator& comm) {
                                   return Report(comm, "threads");
                                 })
                : RunMpi();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return ExitCodeFor(status);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::Main(argc, argv); }
