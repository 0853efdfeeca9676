#include "model/kernels/matmul/matmul_reference.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "determinism/float_env.h"
#include "model/kernels/grid_reference.h"

namespace lockstep {
namespace {

float Element(const MatrixRef& matrix, int64_t index) {
  switch (matrix.dtype) {
    case DType::kF32:
      return static_cast<const float*>(matrix.data)[index];
    case DType::kBF16:
      return ToF32(static_cast<const BF16*>(matrix.data)[index]);
    default:
      LS_CHECK(matrix.dtype == DType::kF16);
      return ToF32(static_cast<const F16*>(matrix.data)[index]);
  }
}

// One output's row of a and column of b.
struct Contraction {
  const MatmulArgs& args;
  int64_t a_start;
  int64_t b_start;

  float A(int64_t k) const {
    return Element(args.a, a_start + k * args.a.col_stride);
  }
  float B(int64_t k) const {
    return Element(args.b, b_start + k * args.b.row_stride);
  }
};

using Slice = std::vector<KSegment>;
using SliceSum = float (*)(const Contraction&, const Slice&);

float PlainChain(const Contraction& x, const Slice& slice) {
  float sum = 0.0f;
  for (const KSegment& segment : slice) {
    for (int64_t k = segment.begin; k < segment.end; ++k) {
      sum = std::fma(x.A(k), x.B(k), sum);
    }
  }
  return sum;
}

float Amx32(const Contraction& x, const Slice& slice) {
  float sum = 0.0f;
  for (const KSegment& segment : slice) {
    const auto a = [&](int64_t k) { return k < segment.end ? x.A(k) : 0.0f; };
    const auto b = [&](int64_t k) { return k < segment.end ? x.B(k) : 0.0f; };
    for (int64_t block = segment.begin; block < segment.end; block += 32) {
      float even = 0.0f;
      float odd = 0.0f;
      for (int64_t k = block; k < block + 32; k += 2) {
        even = std::fma(a(k), b(k), even);
        odd = std::fma(a(k + 1), b(k + 1), odd);
      }
      sum = sum + (even + odd);
    }
  }
  return sum;
}

std::vector<Slice> SlicesOf(const MatmulArgs& args) {
  if (args.slice_count == 0) return {{{0, args.k}}};
  std::vector<Slice> slices;
  for (int64_t s = 0; s < args.slice_count; ++s) {
    const KSlice& slice = args.slices[s];
    slices.emplace_back(slice.segments, slice.segments + slice.count);
  }
  return slices;
}

// Slices [begin, end), a power of two of them.
float Tree(const std::vector<float>& sums, size_t begin, size_t end) {
  if (end - begin == 1) return sums[begin];
  const size_t middle = begin + (end - begin) / 2;
  return Tree(sums, begin, middle) + Tree(sums, middle, end);
}

void PutResult(const MatmulArgs& args, int64_t index, float sum) {
  if (args.c_dtype == DType::kI64) {
    const int64_t q = GridReference(sum, args.grid_exponent, *args.grid_stats);
    if (args.c == nullptr) return;
    int64_t& c = static_cast<int64_t*>(args.c)[index];
    c = static_cast<int64_t>(static_cast<uint64_t>(c) +
                             static_cast<uint64_t>(q));
  } else if (args.accumulate) {
    float& c = static_cast<float*>(args.c)[index];
    c = c + sum;
  } else if (args.c_dtype == DType::kF32) {
    static_cast<float*>(args.c)[index] = sum;
  } else if (args.c_dtype == DType::kBF16) {
    static_cast<BF16*>(args.c)[index] = ToBF16(sum);
  } else {
    static_cast<F16*>(args.c)[index] = ToF16(sum);
  }
}

void Multiply(const MatmulArgs& args, SliceSum slice_sum) {
  ScopedFloatEnv env;
  const std::vector<Slice> slices = SlicesOf(args);
  for (int64_t matrix = 0; matrix < args.batch; ++matrix) {
    for (int64_t i = 0; i < args.m; ++i) {
      for (int64_t j = 0; j < args.n; ++j) {
        const Contraction x{
            args, matrix * args.a_batch_stride + i * args.a.row_stride,
            matrix * args.b_batch_stride + j * args.b.col_stride};
        const int64_t index =
            matrix * args.c_batch_stride + i * args.c_row_stride + j;
        std::vector<float> sums;
        for (const Slice& slice : slices) sums.push_back(slice_sum(x, slice));
        if (args.slice_use == SliceUse::kTree) {
          sums = {Tree(sums, 0, sums.size())};
        }
        for (const float sum : sums) PutResult(args, index, sum);
      }
    }
  }
}

}  // namespace

void MatmulReference(const MatmulArgs& args) {
  Multiply(args, args.a.dtype == DType::kF32 ? PlainChain : Amx32);
}

void MatmulPlainChain(const MatmulArgs& args) { Multiply(args, PlainChain); }

}  // namespace lockstep
