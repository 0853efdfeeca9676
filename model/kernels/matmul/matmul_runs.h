// The contraction of one product as a list of runs: what is packed at once.
//
// A product without slices is one slice of one segment. A run holds pieces of
// consecutive segments of one slice, so that many short segments (the parts of
// a fused projection) fill the caches as one long one would. For amx32 every
// piece is padded to whole blocks; for the F32 chain nothing is.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_RUNS_H_
#define MODEL_KERNELS_MATMUL_MATMUL_RUNS_H_

#include <algorithm>
#include <cstdint>

#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_tile.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

static inline int64_t RoundUp(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

// Positions [k, k + depth) of the contraction, then +0 up to `padded`.
struct Piece {
  int64_t k;
  int64_t depth;
  int64_t padded;
};

struct Run {
  enum : int64_t { kMostPieces = 16 };
  Piece pieces[kMostPieces];
  int64_t count;   // of pieces; 0 for a slice without positions
  int64_t padded;  // all of them
  int64_t slice;
  bool first;  // of its slice
  bool last;
};

class Runs {
 public:
  // `blocks`: amx32. `args` outlives this.
  Runs(const MatmulArgs& args, bool blocks)
      : whole_{0, args.k},
        one_{&whole_, 1},
        slices_(args.slice_count == 0 ? &one_ : args.slices),
        slice_count_(args.slice_count == 0 ? 1 : args.slice_count),
        blocks_(blocks) {}
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  int64_t slice_count() const { return slice_count_; }

  int64_t Padded(int64_t depth) const {
    return blocks_ ? RoundUp(depth, kBlock) : depth;
  }

  // Of the longest slice.
  int64_t LongestSlice() const {
    int64_t longest = 0;
    for (int64_t s = 0; s < slice_count_; ++s) {
      int64_t padded = 0;
      for (int64_t i = 0; i < slices_[s].count; ++i) {
        const KSegment& segment = slices_[s].segments[i];
        padded += Padded(segment.end - segment.begin);
      }
      longest = std::max(longest, padded);
    }
    return longest;
  }

  // The most segments that a slice has.
  int64_t MostSegments() const {
    int64_t most = 0;
    for (int64_t s = 0; s < slice_count_; ++s) {
      most = std::max(most, slices_[s].count);
    }
    return most;
  }

  void Restart() {
    slice_ = 0;
    segment_ = 0;
    offset_ = 0;
  }

  // The next run, no longer than `longest`, a multiple of kBlock; false behind
  // the last one. Every slice has a run, be it empty.
  bool Next(int64_t longest, Run* run) {
    if (slice_ == slice_count_) return false;
    const KSlice& slice = slices_[slice_];
    run->slice = slice_;
    run->first = segment_ == 0 && offset_ == 0;
    run->count = 0;
    run->padded = 0;
    while (segment_ < slice.count && run->count < Run::kMostPieces &&
           run->padded < longest) {
      TakePiece(slice.segments[segment_], longest, run);
    }
    while (segment_ < slice.count && offset_ == 0 &&
           slice.segments[segment_].begin == slice.segments[segment_].end) {
      ++segment_;  // or an empty run would follow
    }
    run->last = segment_ == slice.count;
    if (run->last) {
      ++slice_;
      segment_ = 0;
    }
    return true;
  }

 private:
  void TakePiece(const KSegment& segment, int64_t longest, Run* run) {
    const int64_t left = segment.end - segment.begin - offset_;
    const int64_t depth = std::min(left, longest - run->padded);
    if (depth > 0) {
      run->pieces[run->count++] = {segment.begin + offset_, depth,
                                   Padded(depth)};
      run->padded += Padded(depth);
    }
    offset_ += depth;
    if (depth == left) {
      ++segment_;
      offset_ = 0;
    }
  }

  const KSegment whole_;
  const KSlice one_;
  const KSlice* const slices_;
  const int64_t slice_count_;
  const bool blocks_;
  int64_t slice_ = 0;
  int64_t segment_ = 0;
  int64_t offset_ = 0;
};

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_RUNS_H_
