// Ranges of the embedding's backward pass, once per instruction set level;
// orders in embedding.h. (The forward pass copies bytes and needs no levels.)

#include "model/kernels/column_blocks.h"
#include "model/kernels/embedding/embedding_groups.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

// Adds the gradients of one id, leaf by leaf, to its row of the table.
template <class S>
void AddGroup(const EmbeddingBackwardArgs& args, int64_t first_id,
              const int64_t* row, const int64_t* row_end, int64_t first,
              int64_t columns) {
  float* __restrict out =
      args.dtable + (args.ids[*row] - first_id) * args.d + first;
  while (row < row_end) {
    const int64_t leaf = *row / args.rows_per_leaf;
    float chain[kColumnBlock] = {};
    for (; row < row_end && *row / args.rows_per_leaf == leaf; ++row) {
      const S* dout = RowOf<S>(args.dout, *row, args.dout_row_stride) + first;
      for (int64_t c = 0; c < columns; ++c) chain[c] += ToF32(dout[c]);
    }
    for (int64_t c = 0; c < columns; ++c) out[c] += chain[c];
  }
}

}  // namespace

// Items are (block of columns, id), ids fastest: a frequent id is shared by all
// threads.
void EmbeddingBackwardRange(const EmbeddingGroups& groups, int64_t begin,
                            int64_t end) {
  const EmbeddingBackwardArgs& args = *groups.args;
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / groups.ids * kColumnBlock;
      const int64_t id = i % groups.ids;
      const int64_t left = args.d - first;
      AddGroup<S>(args, groups.first, groups.rows + groups.start[id],
                  groups.rows + groups.start[id + 1], first,
                  left < kColumnBlock ? left : kColumnBlock);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
