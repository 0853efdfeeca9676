// Copies boxes of tensors and takes their fingerprints, in one pass: a word is
// in a register for both. Inside ckpt only.
//
// Boxes that lie at one place of tensors of one shape are walked side by side,
// since the keys of a fingerprint depend on the place alone and cost more than
// the products with them (determinism/fingerprint_pieces.h). Sums of
// fingerprints have no order, so neither threads nor blocks show in them.

#ifndef CKPT_STATE_COPY_H_
#define CKPT_STATE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "ckpt/state_entries.h"
#include "determinism/fingerprint.h"
#include "determinism/fingerprint_pieces.h"
#include "parallel/thread_pool.h"

namespace lockstep {

class StateCopy {
 public:
  // A tensor's box; `to` null: its fingerprint alone. It is added to `sum`.
  // Entry and sum stand still until Run is done.
  void Add(const StateEntry& entry, std::byte* to, Fingerprint* sum);
  // `look` (null: nobody) is called on each element once while it is in cache,
  // from any thread, with the elements [begin, end) of an entry's box.
  using Look =
      std::function<void(const StateEntry& entry, int64_t begin, int64_t end)>;
  void Run(ThreadPool& pool, const Look& look = nullptr);
  // The same of boxes that are still being filled, the largest first. `await`
  // is asked before an entry is read, from any thread, and waits; false: nobody
  // wants any of it any more.
  using Await = std::function<bool(const StateEntry& entry)>;
  void RunAsTheyCome(ThreadPool& pool, const Look& look, const Await& await);

 private:
  // Boxes side by side.
  struct Batch {
    BoxPieces pieces;
    size_t item_bytes;
    std::vector<const StateEntry*> entries;
    std::vector<const void*> from;
    std::vector<std::byte*> to;  // empty: no copies
    std::vector<Fingerprint*> sums;
    size_t bytes() const {  // of each box
      return static_cast<size_t>(pieces.count()) * item_bytes;
    }
  };
  // Elements [begin, end) of each box.
  struct Piece {
    const Batch* batch;
    int64_t begin, end;
  };
  using Shape = std::vector<int64_t>;
  using Place = std::tuple<size_t, bool, Shape, Shape, Shape>;

  std::vector<Piece> Pieces() const;
  static void Take(const Piece& piece, const Look& look, std::mutex& sums);

  std::vector<Batch> batches_;
  std::map<Place, size_t> open_;  // the batch that takes the next box there
};

}  // namespace lockstep

#endif  // CKPT_STATE_COPY_H_
