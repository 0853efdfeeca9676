#include "model/head_memory.h"

#include <algorithm>

namespace lockstep {
namespace {

// Sizes beyond this decide nothing.
int64_t Whole(double count) {
  return static_cast<int64_t>(std::min(count, 0x1p40));
}

}  // namespace

HeadCut HeadCutOf(const CostShape& shape) {
  return CutHead(Whole(shape.leaf_rows()), Whole(shape.vocab_columns),
                 Whole(shape.element));
}

MemoryMoment HeadMemory(const CostShape& s) {
  const HeadCut cut = HeadCutOf(s);
  const double loss = s.rows() * kFp32Bytes;
  const double lasting = loss + 2 * s.stream() + s.stream_rows() * kFp32Bytes;
  MemoryMoment most = {lasting, Gathered(s)};
  const double room = GatheredRoom(s);
  const double partial = OnePartialSum(s, s.samples_per_leaf);
  const double summing = PartialSums(s, s.samples_per_leaf);
  const double numbers = s.degree == 1 ? 0 : 3 * kFp32Bytes;
  const double logits = static_cast<double>(cut.block_rows) *
                        (s.vocab_columns * kFp32Bytes + numbers);
  if (!cut.recomputes) {
    const double dlogits = s.leaf_rows() * s.vocab_columns * s.element;
    Raise(most, {lasting + dlogits + logits, room});
    Raise(most, {lasting + dlogits, room + summing});
  } else {
    const double leaf = lasting + s.leaf_rows() * 2 * kFp32Bytes;
    const double dlogits =
        static_cast<double>(cut.block_rows) * s.vocab_columns * s.element;
    const double chunk = s.leaf_rows() *
                         static_cast<double>(cut.chunk_columns) *
                         (kFp32Bytes + s.element);
    Raise(most, {leaf + dlogits + logits, room + partial});
    Raise(most, {leaf, room + summing});
    Raise(most, {leaf + chunk, room});
  }
  Raise(most, {lasting + s.stream() + NormLeaves(s), 0});
  return most;
}

}  // namespace lockstep
