#include "parallel/mpi_message.h"

#include <algorithm>
#include <utility>

namespace lockstep::mpi_internal {
namespace {

bool AllDone(std::vector<MPI_Request>& requests) {
  int done = 0;
  CheckMpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                       &done, MPI_STATUSES_IGNORE),
           "MPI_Testall");
  return done != 0;
}

// Calls `piece(begin, length)` along `bytes`.
template <typename Piece>
void InPieces(size_t bytes, int64_t longest, Piece piece) {
  const auto step = static_cast<size_t>(longest);
  for (size_t begin = 0; begin < bytes;) {
    const size_t length = std::min(step, bytes - begin);
    piece(begin, length);
    begin += length;
  }
}

}  // namespace

MpiSend::MpiSend(MpiWorld* world, const MpiGroup& group,
                 std::span<const std::byte> bytes, int peer, int tag)
    : world_(world),
      length_(bytes.size()),
      bytes_(world->Borrow(bytes.size())),
      world_rank_(group.world_ranks[static_cast<size_t>(peer)]) {
  const auto send = [&](const void* from, size_t length) {
    CheckMpi(MPI_Isend(from, static_cast<int>(length), MPI_BYTE, peer, tag,
                       group.messages, &requests_.emplace_back()),
             "MPI_Isend");
  };
  send(&length_, sizeof(length_));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  InPieces(length_, world->options().max_message_bytes,
           [&](size_t begin, size_t length) {
             send(bytes_.data() + begin, length);
           });
}

bool MpiSend::Step() {
  if (!AllDone(requests_)) return true;
  world_->GiveBack(std::move(bytes_));
  ended_ = true;
  return false;
}

MpiReceive::MpiReceive(MpiWorld* world, std::shared_ptr<MpiGroup> group,
                       std::span<std::byte> bytes, int peer, int tag)
    : world_(world),
      group_(std::move(group)),
      bytes_(bytes),
      peer_(peer),
      tag_(tag) {
  AskFor(&length_, sizeof(length_));
}

void MpiReceive::AskFor(void* to, size_t bytes) {
  CheckMpi(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, peer_, tag_,
                     group_->messages, &requests_.emplace_back()),
           "MPI_Irecv");
}

bool MpiReceive::Step() {
  while (!ended() && AllDone(requests_)) {
    requests_.clear();
    if (stage_ == Stage::kBytes) {
      stage_ = Stage::kEnded;
      break;
    }
    stage_ = Stage::kBytes;
    std::byte* to = bytes_.data();
    if (length_ != bytes_.size()) {
      other_.resize(length_);
      to = other_.data();
    }
    InPieces(length_, world_->options().max_message_bytes,
             [&](size_t begin, size_t length) { AskFor(to + begin, length); });
  }
  return !ended();
}

std::vector<int> MpiReceive::Missing() const {
  return {group_->world_ranks[static_cast<size_t>(peer_)]};
}

}  // namespace lockstep::mpi_internal
