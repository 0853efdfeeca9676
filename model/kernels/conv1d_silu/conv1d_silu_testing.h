// A convolution to run in tests, and the contract of conv1d_silu.h one number
// at a time.

#ifndef MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_TESTING_H_
#define MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_TESTING_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "model/device.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/testing.h"

namespace lockstep {

struct ConvProblem {
  int64_t batch;
  TestMatrix x, dy;
  std::vector<float> weight, bias;
  std::vector<int32_t> segments;  // empty: none
  int64_t samples_per_leaf;

  int64_t tokens() const { return x.rows() / batch; }
  int64_t channels() const { return x.columns(); }
  const int32_t* segment_data() const {
    return segments.empty() ? nullptr : segments.data();
  }
};

// y, dx, dweight, dbias.
inline std::vector<TestMatrix> ConvOutputs(const ConvProblem& p) {
  const TestMatrix like(p.x.dtype(), p.x.rows(), p.channels());
  const int64_t leaves = p.batch / p.samples_per_leaf;
  return {like, like, TestMatrix(DType::kF32, leaves, p.channels() * 4, 0),
          TestMatrix(DType::kF32, leaves, p.channels(), 0)};
}

inline void RunConv(Device& device, const ConvProblem& p,
                    std::vector<TestMatrix>& out) {
  Conv1dSiluForward(
      device, {p.batch, p.tokens(), p.channels(), p.x.dtype(), p.x.data(),
               p.x.row_stride(), p.weight.data(), p.bias.data(), out[0].data(),
               out[0].row_stride(), p.segment_data()});
  Conv1dSiluBackward(
      device,
      {p.batch, p.tokens(), p.channels(), p.samples_per_leaf, p.x.dtype(),
       p.dy.data(), p.dy.row_stride(), p.x.data(), p.x.row_stride(),
       p.weight.data(), p.bias.data(), p.segment_data(), out[1].data(),
       out[1].row_stride(), out[2].as<float>(), out[3].as<float>()});
}

inline std::vector<TestMatrix> RunConvEverywhere(const ConvProblem& p) {
  return ExpectSameOnEveryDevice(
      ConvOutputs(p), [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunConv(device, p, outputs);
      });
}

// The contract of the header, one number at a time.
class ConvReference {
 public:
  explicit ConvReference(const ConvProblem& p) : p_(p) {}

  float Pre(int64_t row, int64_t c) const {
    float sum = p_.bias[c];
    for (int64_t k = 0; k < 4; ++k) {
      if (!Reads(row - 3 + k, row)) continue;
      sum = std::fma(p_.weight[c * 4 + k], X(row - 3 + k, c), sum);
    }
    return sum;
  }
  float PreGradient(int64_t row, int64_t c) const {
    const float pre = Pre(row, c);
    const float sg = math::Sigmoid(pre);
    return static_cast<float>(p_.dy.At(row, c)) *
           (sg * (1.0f + pre * (1.0f - sg)));
  }
  float InputGradient(int64_t row, int64_t c) const {
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t reader = row + 3 - k;
      if (reader >= p_.x.rows() || !Reads(row, reader)) continue;
      sum = std::fma(p_.weight[c * 4 + k], PreGradient(reader, c), sum);
    }
    return sum;
  }
  // k = 4 is the bias. Blocks of 32 are the written order; others are others.
  float ParameterGradient(int64_t leaf, int64_t c, int64_t k,
                          int64_t block = 32) const {
    const int64_t rows = p_.samples_per_leaf * p_.tokens();
    float total = 0;
    float chain = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = leaf * rows + r;
      if (k == 4) {
        chain += PreGradient(row, c);
      } else if (Reads(row - 3 + k, row)) {
        chain += PreGradient(row, c) * X(row - 3 + k, c);
      }
      if (r % block == block - 1 || r == rows - 1) {
        total += chain;
        chain = 0;
      }
    }
    return total;
  }

 private:
  float X(int64_t row, int64_t c) const {
    return static_cast<float>(p_.x.At(row, c));
  }
  bool Reads(int64_t from, int64_t row) const {
    if (from < 0 || from / p_.tokens() != row / p_.tokens()) return false;
    return p_.segments.empty() || p_.segments[from] == p_.segments[row];
  }
  const ConvProblem& p_;
};

inline void ExpectConvReference(const ConvProblem& p,
                                const std::vector<TestMatrix>& out,
                                const std::string& what = "") {
  const ScopedFloatEnv env;
  const ConvReference reference(p);
  std::vector<TestMatrix> want = ConvOutputs(p);
  for (int64_t c = 0; c < p.channels(); ++c) {
    for (int64_t row = 0; row < p.x.rows(); ++row) {
      const float pre = reference.Pre(row, c);
      want[0].Set(row, c, pre * math::Sigmoid(pre));
      want[1].Set(row, c, reference.InputGradient(row, c));
    }
    for (int64_t leaf = 0; leaf < p.batch / p.samples_per_leaf; ++leaf) {
      for (int64_t k = 0; k < 4; ++k) {
        want[2].Set(leaf, c * 4 + k, reference.ParameterGradient(leaf, c, k));
      }
      want[3].Set(leaf, c, reference.ParameterGradient(leaf, c, 4));
    }
  }
  for (int i = 0; i < 4; ++i) {
    ExpectSameMatrix(want[i], out[i], "output " + std::to_string(i) + what);
  }
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_TESTING_H_
