#include "model/kernels/matmul/matmul_reference.h"

#include <cmath>
#include <cstdint>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "determinism/float_env.h"

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
    return k < args.k ? Element(args.a, a_start + k * args.a.col_stride) : 0.0f;
  }
  float B(int64_t k) const {
    return k < args.k ? Element(args.b, b_start + k * args.b.row_stride) : 0.0f;
  }
};

float PlainChain(const Contraction& x) {
  float sum = 0.0f;
  for (int64_t k = 0; k < x.args.k; ++k) sum = std::fma(x.A(k), x.B(k), sum);
  return sum;
}

float Amx32(const Contraction& x) {
  float sum = 0.0f;
  for (int64_t block = 0; block < x.args.k; block += 32) {
    float even = 0.0f;
    float odd = 0.0f;
    for (int64_t k = block; k < block + 32; k += 2) {
      even = std::fma(x.A(k), x.B(k), even);
      odd = std::fma(x.A(k + 1), x.B(k + 1), odd);
    }
    sum = sum + (even + odd);
  }
  return sum;
}

void PutResult(const MatmulArgs& args, int64_t index, float sum) {
  if (args.accumulate) {
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

template <class Sum>
void Multiply(const MatmulArgs& args, Sum sum) {
  ScopedFloatEnv env;
  for (int64_t matrix = 0; matrix < args.batch; ++matrix) {
    for (int64_t i = 0; i < args.m; ++i) {
      for (int64_t j = 0; j < args.n; ++j) {
        const Contraction x{
            args, matrix * args.a_batch_stride + i * args.a.row_stride,
            matrix * args.b_batch_stride + j * args.b.col_stride};
        PutResult(args,
                  matrix * args.c_batch_stride + i * args.c_row_stride + j,
                  sum(x));
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
