// Ranges of output strips, compiled once an instruction-set level.

#include "model/kernels/matmul/matmul_kernel.h"

#include <algorithm>
#include <cstdint>

#include "model/kernels/matmul/matmul_block.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

// Strips [begin, end) of one matrix of the batch, as a product of its own.
MatmulArgs PartOf(const MatmulArgs& args, const MatmulStrips& strips,
                  int64_t matrix, int64_t begin, int64_t end) {
  int64_t a_offset = matrix * args.a_batch_stride;
  int64_t b_offset = matrix * args.b_batch_stride;
  int64_t c_offset = matrix * args.c_batch_stride;
  MatmulArgs part = args;
  part.batch = 1;
  const int64_t from = begin * strips.extent;
  const int64_t to = end * strips.extent;
  if (strips.by_columns) {
    part.n = std::min(to, args.n) - from;
    b_offset += from * args.b.col_stride;
    c_offset += from;
  } else {
    part.m = std::min(to, args.m) - from;
    a_offset += from * args.a.row_stride;
    c_offset += from * args.c_row_stride;
  }
  part.a.data = Advance(args.a.data, args.a.dtype, a_offset);
  part.b.data = Advance(args.b.data, args.b.dtype, b_offset);
  if (args.c != nullptr) {  // else a probe
    part.c = const_cast<void*>(Advance(args.c, args.c_dtype, c_offset));
  }
  return part;
}

}  // namespace

void MatmulRange(const MatmulArgs& args, int64_t begin, int64_t end) {
  const MatmulStrips strips = StripsOf(args.m, args.n);
  while (begin < end) {
    const int64_t matrix = begin / strips.per_batch;
    const int64_t first = begin % strips.per_batch;
    const int64_t last = std::min(strips.per_batch, first + (end - begin));
    MatmulBlock(PartOf(args, strips, matrix, first, last));
    begin += last - first;
  }
}

void MatmulPart(const MatmulArgs& args, int64_t k_begin, int64_t k_end) {
  MatmulBlock(args, k_begin, k_end);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
