#include "parallel/thread_group.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "determinism/check.h"
#include "parallel/rank_lost.h"

namespace lockstep::thread_comm_internal {

ThreadGroup::ThreadGroup(std::vector<int> world_ranks, int64_t timeout_ms)
    : world_ranks_(std::move(world_ranks)),
      timeout_ms_(timeout_ms),
      left_(world_ranks_.size()) {}

ThreadGroup::~ThreadGroup() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  background_changed_.notify_all();
  if (background_thread_.joinable()) background_thread_.join();
}

absl::Status ThreadGroup::RankGone(std::span<const int> ranks,
                                   std::string_view how) const {
  std::vector<int> names;
  for (const int rank : ranks) names.push_back(world_rank(rank));
  return RanksLost(names, how, "thread communicator");
}

absl::Status ThreadGroup::Left(int rank) const {
  return RankGone(std::span(&rank, 1), "has left");
}

template <typename Done, typename Missing>
void ThreadGroup::WaitUntil(Lock& lock, Done done, Missing missing) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms_);
  if (changed_.wait_until(lock, deadline, done)) return;
  timed_out_ = true;
  if (lost_.ok()) {  // the first answer stays
    lost_ = RankGone(missing(), "did not come within " +
                                    std::to_string(timeout_ms_) + " ms");
  }
  changed_.notify_all();
}

std::shared_ptr<Meeting> ThreadGroup::Join(int rank, uint64_t sequence,
                                           const Collective& call) {
  const Lock lock(mutex_);
  if (!lost_.ok()) return nullptr;
  std::shared_ptr<Meeting>& place = meetings_[sequence];
  if (place == nullptr) place = std::make_shared<Meeting>(size());
  std::shared_ptr<Meeting> meeting = place;
  meeting->Bring(rank, call);
  if (meeting->Complete()) {
    meetings_.erase(sequence);
    meeting->Open(world_ranks_);
    changed_.notify_all();
    background_changed_.notify_all();
  }
  return meeting;
}

absl::Status ThreadGroup::Finish(Meeting& meeting) {
  Lock lock(mutex_);
  WaitUntil(
      lock, [&] { return meeting.Complete() || !lost_.ok(); },
      [&] { return meeting.Missing(); });
  if (!meeting.Complete()) return lost_;
  if (!meeting.verdict().ok() || meeting.Done()) return meeting.verdict();
  lock.unlock();
  const bool last = meeting.Work();
  lock.lock();
  if (last) changed_.notify_all();
  // Others are inside their last piece: no deadline, nothing can hold them.
  changed_.wait(lock, [&] { return meeting.Done(); });
  return absl::OkStatus();
}

void ThreadGroup::MoveInBackground(std::shared_ptr<Meeting> meeting) {
  const Lock lock(mutex_);
  background_.push_back(std::move(meeting));
  if (!background_thread_.joinable()) {
    background_thread_ = std::thread([this] { WorkInBackground(); });
  }
  background_changed_.notify_all();
}

bool ThreadGroup::Ended(const Meeting& meeting) {
  const Lock lock(mutex_);
  return !lost_.ok() || (meeting.Complete() && meeting.Done());
}

// A meeting that will never be complete stays in the list and is not touched.
void ThreadGroup::WorkInBackground() {
  Lock lock(mutex_);
  while (true) {
    auto next = background_.end();
    background_changed_.wait(lock, [&] {
      next = std::find_if(background_.begin(), background_.end(),
                          [](const auto& m) { return m->Complete(); });
      return stopping_ || next != background_.end();
    });
    if (stopping_) return;
    const std::shared_ptr<Meeting> meeting = std::move(*next);
    background_.erase(next);
    if (!meeting->verdict().ok() || meeting->Done()) continue;
    lock.unlock();
    const bool last = meeting->Work();
    lock.lock();
    if (last) changed_.notify_all();
  }
}

void ThreadGroup::GiveUp(Meeting& meeting, int rank) {
  {
    const Lock lock(mutex_);
    if (!meeting.Complete()) {
      if (lost_.ok()) lost_ = Left(rank);
      changed_.notify_all();
      return;
    }
  }
  // The others' hands are, or will be, on this rank's memory.
  Finish(meeting).IgnoreError();
}

absl::Status ThreadGroup::Lost() {
  const Lock lock(mutex_);
  return lost_;
}

std::shared_ptr<ThreadGroup> ThreadGroup::Child(
    uint64_t sequence, int color, const std::vector<int>& world_ranks) {
  const Lock lock(mutex_);
  Offspring& child = children_[{sequence, color}];
  if (child.group == nullptr) {
    child.group = std::make_shared<ThreadGroup>(world_ranks, timeout_ms_);
  }
  std::shared_ptr<ThreadGroup> group = child.group;
  if (++child.taken == world_ranks.size()) children_.erase({sequence, color});
  return group;
}

void ThreadGroup::Leave(int rank) {
  const Lock lock(mutex_);
  left_[static_cast<size_t>(rank)] = true;
  if (lost_.ok()) lost_ = Left(rank);
  changed_.notify_all();
}

absl::Status ThreadGroup::Send(int from, int to, int tag,
                               std::span<const std::byte> bytes) {
  LS_CHECK(to >= 0 && to < size()) << "peer " << to << " of " << size();
  const Lock lock(mutex_);
  if (timed_out_) return lost_;
  if (left_[static_cast<size_t>(to)]) return Left(to);
  mail_[{from, to, tag}].emplace_back(bytes.begin(), bytes.end());
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status ThreadGroup::Recv(int from, int to, int tag,
                               std::span<std::byte> bytes) {
  LS_CHECK(from >= 0 && from < size()) << "peer " << from << " of " << size();
  Lock lock(mutex_);
  std::deque<Message>& mail = mail_[{from, to, tag}];
  const auto left = [&] { return left_[static_cast<size_t>(from)]; };
  WaitUntil(
      lock, [&] { return !mail.empty() || left() || timed_out_; },
      [&] { return std::vector<int>{from}; });
  // What has arrived counts, even if its sender has left since.
  if (mail.empty()) return left() ? Left(from) : lost_;
  const Message message = std::move(mail.front());
  mail.pop_front();
  if (message.size() != bytes.size()) {
    return absl::InternalError(
        "a message has " + std::to_string(message.size()) + " bytes, " +
        std::to_string(bytes.size()) + " were expected\n  where: rank " +
        std::to_string(world_rank(from)) + " to " +
        std::to_string(world_rank(to)) + ", tag " + std::to_string(tag) +
        "\n  do: report this, with the recipe");
  }
  std::copy(message.begin(), message.end(), bytes.begin());
  return absl::OkStatus();
}

}  // namespace lockstep::thread_comm_internal
