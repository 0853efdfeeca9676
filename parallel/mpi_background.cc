// Waiting, whom it misses, and what moves while the rank computes.

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "parallel/mpi_world.h"

namespace lockstep::mpi_internal {
namespace {

// Between looks while bytes move, and while all waits for other ranks.
constexpr auto kNap = std::chrono::microseconds(100);
constexpr auto kLongNap = std::chrono::milliseconds(1);

// Between looks at who is missing: by the clock, since on a machine with more
// ranks than cores a poll can take any time.
constexpr int64_t kLookMs = 5;

// Polls before a wait yields its core, and then sleeps between looks.
constexpr int64_t kSpins = 200, kYields = 20'000;
// Of a thread that is not the rank's own, before it naps long.
constexpr int64_t kShortNaps = 200;
void Pause(int64_t poll) {
  if (poll < kSpins) return;
  if (poll < kYields) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace

// The rank itself polls, so the background need not. Another thread's waits are
// nobody's business: it looks more seldom, and the rank misses nobody by them.
class MpiWorld::Awaiting {
 public:
  explicit Awaiting(MpiWorld& world) : world_(world) { Set(true); }
  ~Awaiting() {
    Misses({});
    Set(false);
  }

  void Misses(std::vector<int> ranks) {
    if (of_the_rank_) world_.SetAwaited(std::move(ranks));
  }
  void Pause(int64_t poll) const {
    if (of_the_rank_) return lockstep::mpi_internal::Pause(poll);
    std::this_thread::sleep_for(poll < kShortNaps ? kNap : kLongNap);
  }

 private:
  void Set(bool awaiting) {
    if (!of_the_rank_) return;
    const Lock lock(world_.mutex_);
    world_.awaiting_ = awaiting;
    if (!world_.background_.empty()) world_.background_changed_.notify_all();
  }
  MpiWorld& world_;
  const bool of_the_rank_ = world_.OfTheRank();
};

MpiWorld::~MpiWorld() { StopBackground(); }

void MpiWorld::StopBackground() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  background_changed_.notify_all();
  if (background_thread_.joinable()) background_thread_.join();
}

void MpiWorld::MoveInBackground(std::shared_ptr<Operation> operation) {
  const Lock lock(mutex_);
  if (!background_allowed_ || operation->ended()) return;
  background_.push_back(std::move(operation));
  if (!background_thread_.joinable()) {
    background_thread_ = std::thread([this] { WorkInBackground(); });
  }
  background_changed_.notify_all();
}

bool MpiWorld::Abandon(const std::shared_ptr<Operation>& operation) {
  const Lock lock(mutex_);
  if (operation->moving()) return false;
  under_way_.remove(operation);
  background_.remove(operation);
  abandoned_.push_back(operation);
  return true;
}

// Asleep while there is nothing to move, and between looks, which are rarer
// while all that is to move waits for other ranks.
void MpiWorld::WorkInBackground() {
  Lock lock(mutex_);
  while (!stopping_) {
    std::erase_if(background_, [](const auto& o) { return o->ended(); });
    if (background_.empty() || awaiting_ || !lost_.ok()) {
      background_changed_.wait(lock);
      continue;
    }
    Progress();
    const bool moving = std::any_of(background_.begin(), background_.end(),
                                    [](const auto& o) { return o->moving(); });
    background_changed_.wait_for(lock, moving ? kNap : kLongNap);
  }
}

void MpiWorld::SetAwaited(std::vector<int> ranks) {
  const std::lock_guard lock(awaited_mutex_);
  awaited_ = std::move(ranks);
}

absl::Status MpiWorld::Await(const Operation& operation, uint64_t group) {
  const int64_t began = NowMs();
  int64_t looked = began;
  Awaiting awaiting(*this);
  for (int64_t poll = 0;; ++poll) {
    {
      const Lock lock(mutex_);
      if (operation.ended()) return absl::OkStatus();
      if (!lost_.ok()) return lost_;
      Progress();
      if (operation.ended()) return absl::OkStatus();
      if (const int64_t now = NowMs(); now - looked >= kLookMs) {
        looked = now;
        const std::vector<int> missing = operation.Missing();
        awaiting.Misses(missing);
        if (const auto gone = Gone(group, missing); !gone.empty()) {
          return GiveUp(gone, "has left");
        }
        if (now - began > options_.timeout_ms) {
          return GiveUp(missing, "did not come within " +
                                     std::to_string(options_.timeout_ms) +
                                     " ms");
        }
      }
    }
    awaiting.Pause(poll);
  }
}

std::vector<int> MpiWorld::AwaitedRanks() const {
  const std::lock_guard lock(awaited_mutex_);
  return awaited_;
}

}  // namespace lockstep::mpi_internal
