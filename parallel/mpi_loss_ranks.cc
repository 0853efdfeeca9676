// One rank of a world that loses a rank; run by mpi_loss_test.sh under mpirun.
//
// Arguments: what happens to rank 1 at step 5 (sleep, kill, raise,
// drop), and a folder for last words. Every rank that is not lost writes
// FOLDER/N and ends the job with 6, as the trainer does.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "determinism/clock.h"
#include "determinism/status.h"
#include "parallel/mpi_comm.h"
#include "parallel/watchdog.h"

namespace lockstep {
namespace {

constexpr int64_t kTimeoutMs = 1'000;

void Write(const std::string& folder, const LastWords& words) {
  std::ofstream file(folder + "/" + std::to_string(words.rank));
  file << "step " << words.step << ", " << words.collective << ", waited for";
  for (const int rank : words.waited_for) file << " " << rank;
  file << "\n" << words.cause << "\n";
}

absl::Status Happen(const std::string& what, Communicator& comm) {
  std::vector<float> values(1'000'000, 1.0f);
  if (what == "sleep") std::this_thread::sleep_for(std::chrono::seconds(60));
  if (what == "kill") std::raise(SIGKILL);
  if (what == "raise") return absl::DataLossError("the cause");
  if (what == "drop") {
    // A bucket under way when the rank's backward fails.
    const auto pending = comm.StartAllReduceOrderedSum(values);
    return absl::DataLossError("the cause");
  }
  return absl::OkStatus();
}

absl::Status Train(const std::string& what, Communicator& comm, Watchdog& dog) {
  std::vector<float> bucket(1'000'000, 1.0f);
  for (int64_t step = 1; step <= 10; ++step) {
    dog.BeginStep(step);
    if (step == 5 && comm.rank() == 1) {
      LS_RETURN_IF_ERROR(Happen(what, comm));
    }
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(bucket));
    int64_t one = 1;
    LS_RETURN_IF_ERROR(comm.AllReduceSum(std::span(&one, 1)));
    dog.EndStep();
  }
  return absl::OkStatus();
}

int Main(const std::string& what, const std::string& folder) {
  auto mpi = MpiRuntime::Start({.timeout_ms = kTimeoutMs});
  if (!mpi.ok()) return 7;
  RealClock clock;
  absl::Status status;
  {
    Watchdog dog({.rank = (*mpi)->rank(),
                  .timeout_ms = kTimeoutMs,
                  .step_timeout_ms = 30'000},
                 &clock, [&](const LastWords& words) { Write(folder, words); });
    auto world = (*mpi)->World();
    if (!world.ok()) return 7;
    const auto comm = WatchCommunicator(*std::move(world), &dog, "world");
    status = Train(what, *comm, dog);
  }
  std::printf("rank %d: %s\n", (*mpi)->rank(), status.ToString().c_str());
  if (!status.ok()) (*mpi)->End(ExitCodeFor(status));
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return lockstep::Main(argv[1], argv[2]);
}
