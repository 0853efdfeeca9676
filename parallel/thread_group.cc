#include "parallel/thread_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep::thread_comm_internal {
namespace {

std::string Describe(const Slot& slot) {
  return std::string(slot.operation) + " of " + std::to_string(slot.count) +
         " with root " + std::to_string(slot.root);
}

absl::Status Gone(const std::string& who, const std::string& how) {
  return RankLost(who + " " + how, "thread communicator",
                  "look for the first error of that rank");
}

absl::Status Left(int rank) {
  return Gone("rank " + std::to_string(rank), "has left");
}

}  // namespace

ThreadGroup::ThreadGroup(int size, int64_t timeout_ms)
    : timeout_ms_(timeout_ms),
      slots_(static_cast<size_t>(size)),
      present_(static_cast<size_t>(size)),
      left_(static_cast<size_t>(size)) {}

template <typename Done>
void ThreadGroup::WaitUntil(Lock& lock, Done done, int for_rank) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms_);
  if (changed_.wait_until(lock, deadline, done)) return;
  const std::string whom =
      for_rank < 0 ? Missing() : "rank " + std::to_string(for_rank);
  timed_out_ = true;
  if (lost_.ok()) {  // the first answer stays
    lost_ = Gone(whom,
                 "did not come within " + std::to_string(timeout_ms_) + " ms");
  }
  changed_.notify_all();
}

std::string ThreadGroup::Missing() const {
  std::string text;
  for (size_t rank = 0; rank < present_.size(); ++rank) {
    if (present_[rank]) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank);
  }
  return text;
}

absl::Status ThreadGroup::Meet(int rank) {
  Lock lock(mutex_);
  if (!lost_.ok()) return lost_;
  present_[static_cast<size_t>(rank)] = true;
  if (++met_ == size()) {
    met_ = 0;
    std::fill(present_.begin(), present_.end(), false);
    ++meetings_;
    changed_.notify_all();
    return absl::OkStatus();
  }
  const uint64_t before = meetings_;
  const auto complete = [&] { return meetings_ != before; };
  WaitUntil(
      lock, [&] { return complete() || !lost_.ok(); }, -1);
  return complete() ? absl::OkStatus() : lost_;
}

void ThreadGroup::Part() {
  Lock lock(mutex_);
  if (++parted_ == size()) {
    parted_ = 0;
    ++partings_;
    changed_.notify_all();
    return;
  }
  const uint64_t before = partings_;
  changed_.wait(lock, [&] { return partings_ != before; });
}

absl::Status ThreadGroup::CheckSame() const {
  const Slot& first = slots_[0];
  for (size_t rank = 1; rank < slots_.size(); ++rank) {
    const Slot& other = slots_[rank];
    if (std::strcmp(first.operation, other.operation) == 0 &&
        first.count == other.count && first.root == other.root) {
      continue;
    }
    return absl::InternalError(
        "ranks met in different collectives\n  where: rank 0: " +
        Describe(first) + "; rank " + std::to_string(rank) + ": " +
        Describe(other) + "\n  do: report this, with the recipe");
  }
  return absl::OkStatus();
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
      lock, [&] { return !mail.empty() || left() || timed_out_; }, from);
  // What has arrived counts, even if its sender has left since.
  if (mail.empty()) return left() ? Left(from) : lost_;
  const Message message = std::move(mail.front());
  mail.pop_front();
  if (message.size() != bytes.size()) {
    return absl::InternalError(
        "a message has " + std::to_string(message.size()) + " bytes, " +
        std::to_string(bytes.size()) + " were expected\n  where: rank " +
        std::to_string(from) + " to " + std::to_string(to) + ", tag " +
        std::to_string(tag) + "\n  do: report this, with the recipe");
  }
  std::copy(message.begin(), message.end(), bytes.begin());
  return absl::OkStatus();
}

}  // namespace lockstep::thread_comm_internal
