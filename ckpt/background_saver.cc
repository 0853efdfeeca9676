#include "ckpt/background_saver.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// A few percent of a core that a step computes on as well, and all of one that
// nobody uses.
constexpr int kNice = 15;

void LowerPriority() {
  // Of this thread alone, on Linux; what it starts inherits it. It may always
  // be lowered, and nothing depends on it.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
}

}  // namespace

void BackgroundSaver::Run(std::function<absl::Status()> work) {
  failed_ = false;
  given_up_ = false;
  thread_ = std::thread([this, work = std::move(work)] {
    LowerPriority();
    status_ = work();
    if (!status_.ok()) failed_ = true;
  });
}

absl::Status BackgroundSaver::Prepare(const StateRegistry& registry, int rank) {
  LS_CHECK(!thread_.joinable()) << "a save is under way";
  LS_RETURN_IF_ERROR(memory_.Reserve(CopyBytes(registry, rank)));
  Run([this] {
    memory_.Touch();
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::Status BackgroundSaver::Begin(const StateRegistry& registry, int rank,
                                    ThreadPool& pool, Rest rest) {
  LS_CHECK(!thread_.joinable()) << "a save is under way";
  LS_ASSIGN_OR_RETURN(snapshot_, CopyState(registry, rank, pool, memory_));
  snapshot_.given_up = &given_up_;
  Run([this, rest = std::move(rest)] { return rest(snapshot_); });
  return absl::OkStatus();
}

absl::Status BackgroundSaver::Finish() {
  if (!thread_.joinable()) return absl::OkStatus();
  thread_.join();
  failed_ = false;
  return std::exchange(status_, absl::OkStatus());
}

void BackgroundSaver::GiveUp() {
  given_up_ = true;
  Finish().IgnoreError();
}

}  // namespace lockstep
