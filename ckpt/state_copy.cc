#include "ckpt/state_copy.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

namespace lockstep {
namespace {

constexpr size_t kTogether = 4;  // whose keys are shared
// Of each tensor, what a thread takes at a time.
constexpr size_t kPieceBytes = size_t{256} << 10;

}  // namespace

void StateCopy::Add(const StateEntry& entry, std::byte* to, Fingerprint* sum) {
  const size_t item = SizeOf(entry.dtype);
  const Place place = {item, to == nullptr, entry.shape, entry.box_start,
                       entry.box_shape};
  const auto at = open_.find(place);
  if (at == open_.end() || batches_[at->second].from.size() == kTogether) {
    open_[place] = batches_.size();
    batches_.push_back(
        {BoxPieces(entry.shape, entry.box_start, entry.box_shape),
         item,
         {},
         {},
         {},
         {}});
  }
  Batch& batch = batches_[open_.at(place)];
  batch.entries.push_back(&entry);
  batch.from.push_back(entry.data);
  if (to != nullptr) batch.to.push_back(to);
  batch.sums.push_back(sum);
}

std::vector<StateCopy::Piece> StateCopy::Pieces() const {
  std::vector<Piece> pieces;
  for (const Batch& batch : batches_) {
    const int64_t count = batch.pieces.count();
    const auto step = static_cast<int64_t>(kPieceBytes / batch.item_bytes);
    for (int64_t begin = 0; begin < count; begin += step) {
      pieces.push_back({&batch, begin, std::min(begin + step, count)});
    }
  }
  return pieces;
}

void StateCopy::Take(const Piece& piece, const Look& look, std::mutex& mutex) {
  const Batch& batch = *piece.batch;
  const size_t tensors = batch.from.size();
  std::array<Fingerprint, kTogether> sums = {};
  batch.pieces.Add(batch.from, batch.item_bytes, piece.begin, piece.end,
                   std::span(sums).first(tensors), batch.to);
  for (size_t t = 0; look && t < tensors; ++t) {
    look(*batch.entries[t], piece.begin, piece.end);
  }
  const std::lock_guard lock(mutex);
  for (size_t t = 0; t < tensors; ++t) *batch.sums[t] += sums[t];
}

void StateCopy::Run(ThreadPool& pool, const Look& look) {
  const std::vector<Piece> pieces = Pieces();
  std::mutex sums;
  pool.ParallelFor(static_cast<int64_t>(pieces.size()),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       Take(pieces[static_cast<size_t>(i)], look, sums);
                     }
                   });
}

// Who waits for a box keeps nobody from another that is there: threads take
// pieces in turn.
void StateCopy::RunAsTheyCome(ThreadPool& pool, const Look& look,
                              const Await& await) {
  std::vector<Piece> pieces = Pieces();
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) {
                     return a.batch->bytes() > b.batch->bytes();
                   });
  std::mutex sums;
  std::atomic<size_t> next = 0;
  pool.ParallelFor(pool.threads(), [&](int64_t, int64_t) {
    for (size_t i = next++; i < pieces.size(); i = next++) {
      for (const StateEntry* entry : pieces[i].batch->entries) {
        if (!await(*entry)) return;
      }
      Take(pieces[i], look, sums);
    }
  });
}

}  // namespace lockstep
