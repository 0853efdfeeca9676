// Fingerprints of tensors that stand side by side, a piece at a time (N11).
//
// What it is: the sum of FingerprintBox taken in parts, while each part is in
// cache, and of up to four tensors of one shape at once. What it is not:
// another fingerprint; parts add up to the same bits however they are cut. Why
// so: reading a tensor again costs more than its fingerprint, and the keys,
// which depend on the place alone, cost more than the products with them, so
// that a master, its moments and its gradient share them.

#ifndef DETERMINISM_FINGERPRINT_PIECES_H_
#define DETERMINISM_FINGERPRINT_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "determinism/fingerprint.h"

namespace lockstep {

// Where pieces are copied to in the same pass, one place a tensor; empty:
// nowhere. Bytes go past the caches where a place is 64-byte aligned, for who
// reads them later; other threads see them once they have synchronised.
using Copies = std::span<std::byte* const>;

// Adds to sums[t] the share of the `size_bytes` bytes at data[t], which lie at
// `byte_offset` of the unsharded tensor t. At least one tensor; any number, but
// keys are shared by four.
void AddFingerprints(std::span<const void* const> data, size_t size_bytes,
                     uint64_t byte_offset, std::span<Fingerprint> sums,
                     Copies copies = {});

// Where the elements of a box lie in the unsharded tensor.
class BoxPieces {
 public:
  // The three spans have the tensor's rank; the box lies inside (LS_CHECK).
  BoxPieces(std::span<const int64_t> global_shape,
            std::span<const int64_t> box_start,
            std::span<const int64_t> box_shape);

  int64_t count() const { return count_; }  // elements of the box

  // Adds to sums[t] the share of elements [begin, end) of the box, in row-major
  // order of the box, which lies contiguous at boxes[t]. Safe to call from
  // several threads, each with sums of its own. A copy is of the whole box too;
  // only its elements [begin, end) are written.
  void Add(std::span<const void* const> boxes, size_t item_bytes, int64_t begin,
           int64_t end, std::span<Fingerprint> sums, Copies copies = {}) const;

 private:
  int64_t ElementOfRun(int64_t run) const;

  // A box is runs of `run_` elements that are contiguous in the tensor too;
  // which run is counted in the outer dims that are cut, innermost first.
  int64_t run_ = 1;
  int64_t count_ = 1;
  int64_t first_ = 0;  // element of the tensor
  std::vector<int64_t> lengths_;
  std::vector<int64_t> strides_;  // elements
};

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_PIECES_H_
