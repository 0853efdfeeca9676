#include "parallel/meeting.h"

#include <algorithm>
#include <cstring>

namespace lockstep::thread_comm_internal {
namespace {

// Large enough that taking a piece costs nothing beside it, small enough that
// two ranks share the work of a gradient bucket.
constexpr size_t kPieceBytes = 256 * 1024;

}  // namespace

Meeting::Meeting(int size)
    : calls_(static_cast<size_t>(size)), present_(calls_.size()) {}

void Meeting::Bring(int rank, const Collective& call) {
  const auto at = static_cast<size_t>(rank);
  calls_[at] = call;
  present_[at] = true;
  order_.push_back(at);
  ++brought_;
}

std::vector<int> Meeting::Missing() const {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < present_.size(); ++rank) {
    if (!present_[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

void Meeting::Open(const std::vector<int>& world_ranks) {
  std::vector<CollectiveShape> shapes;
  for (const Collective& call : calls_) shapes.push_back(ShapeOf(call));
  verdict_ = CheckSameCall(shapes, world_ranks);
  if (!verdict_.ok()) return;
  const Collective& call = calls_[0];
  if (call.part_bytes.empty()) {
    return CutInto(0, 0, call.data.size(), kPieceBytes);
  }
  const std::vector<size_t> begins = PartBegins(call);
  for (size_t part = 0; part + 1 < begins.size(); ++part) {
    CutInto(part, begins[part], begins[part + 1], kPieceBytes);
  }
}

void Meeting::CutInto(size_t part, size_t begin, size_t end, size_t step) {
  for (; begin < end; begin += std::min(step, end - begin)) {
    pieces_.push_back({part, begin, begin + std::min(step, end - begin)});
  }
}

bool Meeting::Work() {
  while (true) {
    const size_t mine = taken_.fetch_add(1);
    if (mine >= pieces_.size()) return false;
    Do(pieces_[mine]);
    if (done_.fetch_add(1) + 1 == pieces_.size()) return true;
  }
}

void Meeting::Do(const Piece& piece) {
  switch (calls_[0].kind) {
    case CollectiveKind::kBarrier:
      return;
    case CollectiveKind::kAllReduce:
      return Reduce(piece, /*to_all=*/true);
    case CollectiveKind::kReduceScatter:
      return Reduce(piece, /*to_all=*/false);
    case CollectiveKind::kAllGather:
      return CopyFrom(piece.part, piece);
    case CollectiveKind::kBroadcast:
      return CopyFrom(static_cast<size_t>(calls_[0].root), piece);
  }
}

void Meeting::Reduce(const Piece& piece, bool to_all) {
  // What came last is still in a cache.
  std::vector<size_t> ranks(order_.rbegin(), order_.rend());
  if (calls_[0].reduction != Reduction::kFastSumFloat) {
    std::sort(ranks.begin(), ranks.end());
  }
  std::vector<const std::byte*> sources;
  for (const size_t rank : ranks) {
    sources.push_back(calls_[rank].data.data() + piece.begin);
  }
  const size_t owner = to_all ? 0 : piece.part;
  std::byte* out = calls_[owner].data.data() + piece.begin;
  const size_t bytes = piece.end - piece.begin;
  ReduceSources(calls_[0].reduction, sources, out,
                bytes / ElementBytes(calls_[0].reduction));
  if (to_all) CopyFrom(owner, piece);
}

void Meeting::CopyFrom(size_t source, const Piece& piece) {
  const std::byte* from = calls_[source].data.data() + piece.begin;
  for (size_t rank = 0; rank < calls_.size(); ++rank) {
    if (rank == source) continue;
    std::memcpy(calls_[rank].data.data() + piece.begin, from,
                piece.end - piece.begin);
  }
}

}  // namespace lockstep::thread_comm_internal
