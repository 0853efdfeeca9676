// One rank of the suite over MPI; run by mpi_comm_test.sh under mpirun.
//
// Every rank runs every case that fits the number of ranks and prints one line
// that the script counts. `small` cuts all messages to a few elements, so that
// each takes many rounds; `large` runs the case of gigabytes alone.

#include <cstdio>
#include <memory>
#include <string>

#include "determinism/float_env.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"
#include "parallel/mpi_comm.h"

namespace lockstep {
namespace {

int RunCases(Communicator& world) {
  int ran = 0;
  for (const comm_suite::Case& one : comm_suite::AllCases()) {
    if (!one.Fits(world.size())) continue;
    SCOPED_TRACE(one.name);
    const absl::Status status = one.run(world);
    EXPECT_TRUE(status.ok()) << status;
    ++ran;
    // On a part of the ranks as well, numbered backwards.
    const auto part = world.Split(world.rank() % 2, -world.rank());
    EXPECT_TRUE(part.ok()) << part.status();
    if (!part.ok() || !one.Fits((*part)->size())) continue;
    const absl::Status on_part = one.run(**part);
    EXPECT_TRUE(on_part.ok()) << on_part;
    ++ran;
  }
  return ran;
}

int RunLargeCase(Communicator& world) {
  const absl::Status status = comm_suite::LargeCase().run(world);
  EXPECT_TRUE(status.ok()) << status;
  return 1;
}

int Main(const std::string& mode) {
  MpiCommOptions options = {.timeout_ms = 30'000};
  if (mode == "small") {
    options.max_message_bytes = 8 * 1024;
    options.reduce_chunk_bytes = 4 * 1024;
  }
  const ScopedFloatEnv strict;
  auto mpi = MpiRuntime::Start(options);
  if (!mpi.ok()) {
    std::fprintf(stderr, "%s\n", mpi.status().ToString().c_str());
    return 1;
  }
  int ran = 0;
  {
    auto world = (*mpi)->World();
    EXPECT_TRUE(world.ok()) << world.status();
    if (world.ok()) {
      ran = mode == "large" ? RunLargeCase(**world) : RunCases(**world);
    }
  }
  const bool failed = testing::Test::HasFailure();
  std::printf("rank %d of %d: %d cases %s\n", (*mpi)->rank(), (*mpi)->size(),
              ran, failed ? "FAILED" : "passed");
  std::fflush(stdout);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return lockstep::Main(argc > 1 ? argv[1] : "");
}
