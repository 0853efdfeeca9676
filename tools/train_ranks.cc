#include "tools/train_ranks.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "parallel/mpi_comm.h"
#include "parallel/thread_comm.h"
#include "tools/rank_watch.h"
#include "tools/term_watch.h"

namespace lockstep {
namespace {

constexpr int64_t kMostRanks = 4096;
constexpr int kNumericExitCode = 5;

// What threads of this process came to.
class Outcomes {
 public:
  explicit Outcomes(size_t ranks) : statuses_(ranks) {}

  void Set(size_t rank, absl::Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    statuses_[rank] = std::move(status);
    changed_.notify_all();
  }

  // Waits for all; once one has failed, for kLinger at most.
  absl::Status Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return Done() || Failed(); });
    if (!Done()) changed_.wait_for(lock, kLinger, [&] { return Done(); });
    const absl::Status status = Status();
    if (!Done()) EndProcess(status);
    return status;
  }

 private:
  bool Done() const {
    for (const auto& status : statuses_) {
      if (!status) return false;
    }
    return true;
  }
  bool Failed() const {
    for (const auto& status : statuses_) {
      if (status && !status->ok()) return true;
    }
    return false;
  }
  absl::Status Status() const {
    absl::Status lost;
    for (const auto& status : statuses_) {
      if (!status || status->ok()) continue;
      if (!absl::IsUnavailable(*status)) return *status;
      if (lost.ok()) lost = *status;
    }
    return lost;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<absl::Status>> statuses_;
};

absl::Status RunThreads(const RankOptions& options, Clock& clock,
                        const std::function<absl::Status(RankHandle&)>& body) {
  const auto ranks = static_cast<size_t>(options.ranks);
  auto comms = MakeThreadComms(static_cast<int>(ranks),
                               {.timeout_ms = options.timeout_ms});
  RankHandle handle;
  handle.ranks_here = static_cast<int>(ranks);
  if (ranks == 1) {
    return RunWatched(std::move(comms[0]), handle, options, clock, body);
  }
  Outcomes outcomes(ranks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank) {
    handle.first_here = rank == 0;
    threads.emplace_back([&, rank, handle] {
      outcomes.Set(rank, RunWatched(std::move(comms[rank]), handle, options,
                                    clock, body));
    });
  }
  const absl::Status status = outcomes.Wait();
  for (std::thread& thread : threads) thread.join();
  return status;
}

// What ranks agreed on, and what they found in numbers that they had merged.
bool AllHave(const absl::Status& status) {
  return IsAgreed(status) || ExitCodeFor(status) == kNumericExitCode;
}

// After an error the other processes may wait for this one: MPI is ended, and
// the job with it.
absl::Status RunProcess(const RankOptions& options, Clock& clock,
                        const std::function<absl::Status(RankHandle&)>& body) {
  HoldTerm();  // before MPI starts threads
  MpiCommOptions mpi;
  mpi.timeout_ms = options.timeout_ms;
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<MpiRuntime> runtime,
                      MpiRuntime::Start(mpi));
  RankHandle handle;
  handle.ranks_here = runtime->local_size();
  handle.launched = runtime->size() > 1;
  handle.two_threads = runtime->two_threads();
  if (!handle.launched) ReleaseTerm();
  absl::Status status;
  {
    LS_ASSIGN_OR_RETURN(auto world, runtime->World());
    status = RunWatched(std::move(world), handle, options, clock, body);
  }
  if (status.ok() || absl::IsCancelled(status)) return status;
  if (runtime->rank() == 0 || !AllHave(status)) {
    std::fprintf(stderr, "lockstep: %s\n",
                 std::string(status.message()).c_str());
    std::fflush(nullptr);
  }
  runtime->End(ExitCodeFor(status));
  return status;  // not reached
}

absl::Status CheckCount(int64_t ranks) {
  if (ranks >= 1 && ranks <= kMostRanks) return absl::OkStatus();
  return InputError(
      absl::StrCat("a number of ranks from 1 to ", kMostRanks, " is needed"),
      absl::StrCat("--ranks ", ranks),
      "give a number, or leave it out for one rank");
}

}  // namespace

absl::Status RunRanks(const RankOptions& options, Clock& clock,
                      const std::function<absl::Status(RankHandle&)>& body) {
  if (StartedByMpi()) {
    if (options.ranks != 1) {
      return InputError(
          "--ranks makes threads, and a launcher has started "
          "processes",
          absl::StrCat("--ranks ", options.ranks),
          "leave --ranks out under mpirun or srun");
    }
    return RunProcess(options, clock, body);
  }
  if (const int64_t processes = ProcessesWithoutMpi(); processes > 1) {
    return InputError(
        absl::StrCat("srun started ", processes,
                     " processes that know nothing of each other; each would "
                     "be a run of its own"),
        absl::StrCat("SLURM_STEP_NUM_TASKS=", processes),
        "start them with srun --mpi=pmix, or one with srun -n 1");
  }
  LS_RETURN_IF_ERROR(CheckCount(options.ranks));
  return RunThreads(options, clock, body);
}

}  // namespace lockstep
