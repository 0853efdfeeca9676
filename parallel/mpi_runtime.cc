// The life of MPI in this process.

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "determinism/check.h"
#include "parallel/mpi_comm.h"
#include "parallel/mpi_group.h"
#include "parallel/mpi_world.h"

namespace lockstep {
namespace {

using mpi_internal::CheckMpi;
using mpi_internal::MpiWorld;

class Runtime : public MpiRuntime {
 public:
  Runtime(const MpiCommOptions& options, bool background)
      : world_(std::make_shared<MpiWorld>(options, background)),
        two_threads_(background) {
    MPI_Comm local;
    CheckMpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &local),
             "MPI_Comm_split_type");
    MPI_Comm_size(local, &local_size_);
    MPI_Comm_free(&local);
  }
  ~Runtime() override { world_->Finalize(); }

  int rank() const override { return world_->rank(); }
  int size() const override { return world_->size(); }
  int local_size() const override { return local_size_; }
  bool two_threads() const override { return two_threads_; }

  absl::StatusOr<std::unique_ptr<Communicator>> World() override {
    if (!world_->lost().ok()) return world_->lost();
    std::vector<int> all(static_cast<size_t>(size()));
    std::iota(all.begin(), all.end(), 0);
    return mpi_internal::MakeMpiComm(
        world_, MPI_COMM_WORLD,
        {.rank = rank(), .id = ++worlds_, .world_ranks = std::move(all)});
  }

  void End(int exit_code) override {
    std::fflush(nullptr);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(world_->options().linger_ms));
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);  // if MPI comes back
  }

 private:
  const std::shared_ptr<MpiWorld> world_;
  const bool two_threads_;
  int local_size_ = 1;
  uint64_t worlds_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MpiRuntime>> MpiRuntime::Start(
    const MpiCommOptions& options) {
  LS_CHECK(options.timeout_ms > 0 && options.linger_ms >= 0);
  LS_CHECK(options.max_message_bytes > 0 &&
           options.max_message_bytes <= (int64_t{1} << 30) &&
           options.max_message_bytes % 8 == 0);
  LS_CHECK(options.reduce_chunk_bytes > 0 &&
           options.reduce_chunk_bytes <= (int64_t{1} << 30) &&
           options.reduce_chunk_bytes % 8 == 0);
  int started = 0;
  MPI_Initialized(&started);
  LS_CHECK(started == 0) << "MPI cannot be started twice";
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) !=
          MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    return absl::InternalError(
        "MPI does not start with MPI_THREAD_FUNNELED\n  where: MPI_Init_thread"
        "\n  do: run `lockstep doctor`, and look at the launcher's messages");
  }
  return std::make_unique<Runtime>(options, provided >= MPI_THREAD_SERIALIZED);
}

}  // namespace lockstep
