// The rounds in which large data moves.

#include <algorithm>

#include "parallel/mpi_collective.h"

namespace lockstep::mpi_internal {
namespace {

bool IsReduction(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter;
}

}  // namespace

MpiCollective::Slice MpiCollective::SliceOf(int part, size_t step) const {
  const auto p = static_cast<size_t>(part);
  const size_t length = begins_[p + 1] - begins_[p];
  const size_t begin = std::min(length, round_ * step);
  return {begins_[p] + begin, std::min(step, length - begin)};
}

void MpiCollective::NextRound() {
  if (stage_ == Stage::kScatter && !ScatterRound()) {
    world_->GiveBack(std::move(scratch_));
    round_ = 0;
    stage_ = call_.kind == CollectiveKind::kReduceScatter ? Stage::kEnded
                                                          : Stage::kGather;
  }
  if (stage_ == Stage::kGather && !GatherRound()) stage_ = Stage::kEnded;
}

// A reduction: every rank's slice of my part to me, mine of theirs to them. A
// broadcast: the root deals the parts out.
bool MpiCollective::ScatterRound() {
  const bool reduces = IsReduction(call_.kind);
  const auto step =
      static_cast<size_t>(reduces ? world_->options().reduce_chunk_bytes
                                  : world_->options().max_message_bytes);
  const int me = group_->rank;
  const Slice mine = SliceOf(me, step);
  const size_t borrowed = mine.length * static_cast<size_t>(group_->size());
  if (reduces && scratch_.size() < borrowed) {  // the first round, the largest
    scratch_ = world_->Borrow(borrowed);
  }
  bool any = mine.length > 0;
  for (int peer = 0; peer < group_->size(); ++peer) {
    const Slice theirs = SliceOf(peer, step);
    any = any || theirs.length > 0;
    if (peer == me) continue;
    const bool sends = reduces || me == call_.root;
    const bool receives = reduces || peer == call_.root;
    if (receives && mine.length > 0) {
      std::byte* to =
          reduces ? scratch_.data() + static_cast<size_t>(peer) * mine.length
                  : call_.data.data() + mine.begin;
      Receive(to, mine.length, peer, 1);
    }
    if (sends && theirs.length > 0) {
      Send(call_.data.data() + theirs.begin, theirs.length, peer, 1);
    }
  }
  return any;
}

// True once all requests of the round are done.
bool MpiCollective::JoinArrived() {
  const auto count = static_cast<int>(requests_.size());
  std::vector<int> done(requests_.size());
  int many = 0;
  CheckMpi(MPI_Testsome(count, requests_.data(), &many, done.data(),
                        MPI_STATUSES_IGNORE),
           "MPI_Testsome");
  if (many == MPI_UNDEFINED) return true;
  const Slice mine = SliceOf(
      group_->rank, static_cast<size_t>(world_->options().reduce_chunk_bytes));
  std::byte* out = call_.data.data() + mine.begin;
  for (int i = 0; i < many; ++i) {
    const std::byte* piece =
        arriving_[static_cast<size_t>(done[static_cast<size_t>(i)])];
    if (piece == nullptr) continue;
    const std::byte* both[] = {out, piece};
    ReduceSources(call_.reduction, both, out,
                  mine.length / ElementBytes(call_.reduction));
  }
  return std::all_of(requests_.begin(), requests_.end(),
                     [](MPI_Request r) { return r == MPI_REQUEST_NULL; });
}

void MpiCollective::EndScatterRound() {
  if (!IsReduction(call_.kind) || joins_on_arrival()) return;
  const Slice mine = SliceOf(
      group_->rank, static_cast<size_t>(world_->options().reduce_chunk_bytes));
  if (mine.length == 0) return;
  std::byte* out = call_.data.data() + mine.begin;
  std::vector<const std::byte*> sources;
  for (int rank = 0; rank < group_->size(); ++rank) {
    sources.push_back(rank == group_->rank
                          ? out
                          : scratch_.data() +
                                static_cast<size_t>(rank) * mine.length);
  }
  ReduceSources(call_.reduction, sources, out,
                mine.length / ElementBytes(call_.reduction));
}

// My part to all, theirs to me; a broadcast's root has them all already.
bool MpiCollective::GatherRound() {
  const auto step = static_cast<size_t>(world_->options().max_message_bytes);
  const int me = group_->rank;
  const bool broadcast = call_.kind == CollectiveKind::kBroadcast;
  const Slice mine = SliceOf(me, step);
  bool any = mine.length > 0;
  for (int peer = 0; peer < group_->size(); ++peer) {
    const Slice theirs = SliceOf(peer, step);
    any = any || theirs.length > 0;
    if (peer == me) continue;
    if (theirs.length > 0 && !(broadcast && me == call_.root)) {
      Receive(call_.data.data() + theirs.begin, theirs.length, peer, 2);
    }
    if (mine.length > 0 && !(broadcast && peer == call_.root)) {
      Send(call_.data.data() + mine.begin, mine.length, peer, 2);
    }
  }
  return any;
}

}  // namespace lockstep::mpi_internal
