#include "parallel/mpi_world.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "determinism/check.h"
#include "parallel/rank_lost.h"

namespace lockstep::mpi_internal {
namespace {

// After a leaver's notice, what it sent before has this long to arrive: MPI
// keeps the order within a communicator only.
constexpr int64_t kSettleMs = 50;
constexpr auto kLook = std::chrono::microseconds(100);

}  // namespace

void CheckMpi(int code, const char* call) {
  LS_CHECK(code == MPI_SUCCESS) << call << " failed with " << code;
}

int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

MpiWorld::MpiWorld(const MpiCommOptions& options, bool background)
    : options_(options), background_allowed_(background) {
  CheckMpi(MPI_Comm_dup(MPI_COMM_WORLD, &notices_), "MPI_Comm_dup");
  MPI_Comm_rank(notices_, &rank_);
  MPI_Comm_size(notices_, &size_);
}

void MpiWorld::Tell(const Notice& notice, int rank) {
  Told& told = told_.emplace_back(Told{.notice = notice});
  CheckMpi(MPI_Isend(&told.notice, sizeof(Notice), MPI_BYTE, rank, 0, notices_,
                     &told.request),
           "MPI_Isend");
}

void MpiWorld::TakeNotices() {
  std::erase_if(told_, [](Told& told) {
    int done = 0;
    MPI_Test(&told.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  while (lost_.ok()) {
    int there = 0;
    MPI_Status from;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, notices_, &there, &from);
    if (there == 0) return;
    Notice notice;
    MPI_Recv(&notice, sizeof(notice), MPI_BYTE, from.MPI_SOURCE, 0, notices_,
             MPI_STATUS_IGNORE);
    Take(notice, from.MPI_SOURCE);
  }
}

void MpiWorld::Take(const Notice& notice, int from) {
  if (notice.kind == Notice::kLeft) {
    left_.emplace(std::pair(notice.group, from), NowMs());
    return;
  }
  const size_t ranks =
      std::min<size_t>(static_cast<size_t>(notice.ranks), Notice::kMaxRanks);
  lost_ =
      RanksLost(std::span(notice.rank, ranks), notice.text, "MPI communicator");
}

void MpiWorld::Progress() {
  const Lock lock(mutex_);
  if (!lost_.ok()) return;
  TakeNotices();
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    at = (*at)->Step() ? std::next(at) : under_way_.erase(at);
  }
}

void MpiWorld::Add(std::shared_ptr<Operation> operation) {
  const Lock lock(mutex_);
  if (lost_.ok() && operation->Step()) {
    under_way_.push_back(std::move(operation));
  }
}

std::vector<int> MpiWorld::Gone(uint64_t group,
                                const std::vector<int>& ranks) const {
  std::vector<int> gone;
  for (const int rank : ranks) {
    const auto at = left_.find({group, rank});
    if (at != left_.end() && NowMs() - at->second > kSettleMs) {
      gone.push_back(rank);
    }
  }
  return gone;
}

absl::Status MpiWorld::GiveUp(std::span<const int> ranks,
                              const std::string& how) {
  const Lock lock(mutex_);
  Notice notice = {.kind = Notice::kLost};
  for (const int rank :
       ranks.first(std::min(ranks.size(), Notice::kMaxRanks))) {
    notice.rank[notice.ranks++] = rank;
  }
  how.copy(notice.text, Notice::kMaxText - 1);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) Tell(notice, rank);
  }
  // A last look, while all memory is still in place. Another rank's words may
  // have come first; then they are everybody's.
  for (const int64_t end = NowMs() + kSettleMs; NowMs() < end;) {
    TakeNotices();
    std::this_thread::sleep_for(kLook);
  }
  if (lost_.ok()) Take(notice, rank_);
  return lost_;
}

void MpiWorld::Leave(uint64_t group, std::span<const int> members) {
  const Lock lock(mutex_);
  if (!lost_.ok()) return;
  for (const int member : members) {
    if (member != rank_) Tell({.group = group, .kind = Notice::kLeft}, member);
  }
  Progress();
}

std::vector<std::byte> MpiWorld::Borrow(size_t bytes) {
  const auto at = spare_.lower_bound(bytes);
  if (at == spare_.end()) return std::vector<std::byte>(bytes);
  std::vector<std::byte> buffer = std::move(at->second);
  spare_.erase(at);
  return buffer;
}

void MpiWorld::GiveBack(std::vector<std::byte> buffer) {
  constexpr size_t kKept = 16;  // no more than were ever in use at once
  if (buffer.empty()) return;
  if (spare_.size() == kKept) spare_.erase(spare_.begin());
  const size_t size = buffer.size();
  spare_.emplace(size, std::move(buffer));
}

void MpiWorld::Finalize() {
  StopBackground();
  for (const int64_t end = NowMs() + 1'000;
       lost_.ok() && !(told_.empty() && under_way_.empty()) && NowMs() < end;) {
    Progress();
  }
  // Waits for all ranks, so it would wait for the lost one.
  if (lost_.ok()) MPI_Finalize();
}

}  // namespace lockstep::mpi_internal
