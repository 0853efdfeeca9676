#include "parallel/mpi_collective.h"

#include <algorithm>
#include <cstring>

#include "determinism/check.h"

namespace lockstep::mpi_internal {
namespace {

// Tags above those of messages; MPI promises no more than 32767.
constexpr int kFirstTag = Communicator::kMaxTag + 1;
constexpr uint64_t kConcurrent = 4096;  // collectives with tags of their own
constexpr int kPhases = 4;
static_assert(kFirstTag + static_cast<int>(kConcurrent) * kPhases <= 32767 + 1);

int TagOf(uint64_t sequence) {
  return kFirstTag + static_cast<int>(sequence % kConcurrent) * kPhases;
}

// Even parts of whole elements where the call has none of its own.
std::vector<size_t> BeginsOf(const Collective& call, size_t ranks) {
  if (!call.part_bytes.empty()) return PartBegins(call);
  const size_t element = ElementBytes(call.reduction);
  const size_t elements = call.data.size() / element;
  std::vector<size_t> begins = {0};
  for (size_t rank = 0; rank < ranks; ++rank) {
    const size_t more = elements / ranks + (rank < elements % ranks ? 1 : 0);
    begins.push_back(begins.back() + more * element);
  }
  return begins;
}

}  // namespace

MpiCollective::MpiCollective(MpiWorld* world, std::shared_ptr<MpiGroup> group,
                             const Collective& call)
    : world_(world),
      group_(std::move(group)),
      call_(call),
      shape_(ShapeOf(call)),
      tag_(TagOf(group_->sequence++)) {
  CallRoll();
}

void MpiCollective::Receive(std::byte* to, size_t bytes, int from, int phase) {
  CheckMpi(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, from, tag_ + phase,
                     group_->collectives, &requests_.emplace_back()),
           "MPI_Irecv");
  peers_.push_back(from);
  arriving_.push_back(to);
}

void MpiCollective::Send(const std::byte* from, size_t bytes, int to,
                         int phase) {
  CheckMpi(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, to, tag_ + phase,
                     group_->collectives, &requests_.emplace_back()),
           "MPI_Isend");
  peers_.push_back(to);
  arriving_.push_back(nullptr);
}

bool MpiCollective::RoundDone() {
  if (joins_on_arrival()) {
    if (!JoinArrived()) return false;
  } else {
    int done = 0;
    CheckMpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(),
                         &done, MPI_STATUSES_IGNORE),
             "MPI_Testall");
    if (done == 0) return false;
  }
  requests_.clear();
  peers_.clear();
  arriving_.clear();
  return true;
}

std::vector<int> MpiCollective::Missing() const {
  std::vector<int> missing;
  for (size_t i = 0; i < requests_.size(); ++i) {
    int done = 0;
    MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
    const int rank = group_->world_ranks[static_cast<size_t>(peers_[i])];
    if (done == 0 &&
        std::find(missing.begin(), missing.end(), rank) == missing.end()) {
      missing.push_back(rank);
    }
  }
  return missing;
}

bool MpiCollective::Step() {
  while (!ended()) {
    if (!RoundDone()) return true;
    if (stage_ == Stage::kRollCall) {
      AnswerRoll();
    } else {
      if (stage_ == Stage::kScatter) EndScatterRound();
      ++round_;
    }
    if (!ended()) NextRound();
  }
  return false;
}

void MpiCollective::CallRoll() {
  const auto ranks = static_cast<size_t>(group_->size());
  letters_ = world_->Borrow(ranks * (kHeader + kInlineBytes));
  std::byte* mine = Letter(letters_, group_->rank);
  std::memcpy(mine, &shape_, kHeader);
  size_t bytes = kHeader;
  if (shape_.bytes > 0 && shape_.bytes <= kInlineBytes) {
    std::memcpy(mine + kHeader, call_.data.data(), shape_.bytes);
    bytes += shape_.bytes;
  }
  for (int peer = 0; peer < group_->size(); ++peer) {
    if (peer == group_->rank) continue;
    Receive(Letter(letters_, peer), kHeader + kInlineBytes, peer, 0);
    Send(mine, bytes, peer, 0);
  }
}

void MpiCollective::AnswerRoll() {
  std::vector<CollectiveShape> shapes(group_->world_ranks.size());
  for (int rank = 0; rank < group_->size(); ++rank) {
    std::memcpy(&shapes[static_cast<size_t>(rank)], Letter(letters_, rank),
                kHeader);
  }
  status_ = CheckSameCall(shapes, group_->world_ranks);
  if (status_.ok() && shape_.bytes <= kInlineBytes) JoinInline();
  world_->GiveBack(std::move(letters_));
  if (!status_.ok() || shape_.bytes <= kInlineBytes) {
    stage_ = Stage::kEnded;
    return;
  }
  begins_ = BeginsOf(call_, group_->world_ranks.size());
  stage_ = call_.kind == CollectiveKind::kAllGather ? Stage::kGather
                                                    : Stage::kScatter;
}

// Every rank has everybody's data: each does for itself what it needs.
void MpiCollective::JoinInline() {
  if (shape_.bytes == 0) return;
  std::byte* data = call_.data.data();
  if (call_.kind == CollectiveKind::kBroadcast) {
    std::memcpy(data, Inline(call_.root), shape_.bytes);
    return;
  }
  if (call_.kind == CollectiveKind::kAllReduce) {
    std::vector<const std::byte*> sources;
    for (int r = 0; r < group_->size(); ++r) sources.push_back(Inline(r));
    ReduceSources(call_.reduction, sources, data,
                  shape_.bytes / ElementBytes(call_.reduction));
    return;
  }
  const std::vector<size_t> begins = PartBegins(call_);
  for (int part = 0; part < group_->size(); ++part) {
    const auto p = static_cast<size_t>(part);
    const size_t begin = begins[p], bytes = begins[p + 1] - begin;
    if (call_.kind == CollectiveKind::kAllGather) {
      std::memcpy(data + begin, Inline(part) + begin, bytes);
    } else if (part == group_->rank) {
      std::vector<const std::byte*> sources;
      for (int r = 0; r < group_->size(); ++r) {
        sources.push_back(Inline(r) + begin);
      }
      ReduceSources(call_.reduction, sources, data + begin,
                    bytes / ElementBytes(call_.reduction));
    }
  }
}

}  // namespace lockstep::mpi_internal
