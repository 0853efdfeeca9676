// A gated norm to run in tests, and the formulas of gated_norm.h one number at
// a time.

#ifndef MODEL_KERNELS_GATED_NORM_GATED_NORM_TESTING_H_
#define MODEL_KERNELS_GATED_NORM_GATED_NORM_TESTING_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "model/device.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/norm_testing.h"
#include "model/kernels/testing.h"

namespace lockstep {

struct GatedNormProblem {
  TestMatrix y, z, dout;
  std::vector<float> weight;
  int64_t groups;
  int64_t rows_per_leaf;

  static constexpr double kEps = 1e-5;
  int64_t rows() const { return y.rows(); }
  int64_t width() const { return y.columns(); }
};

// out, rstd, dy, dz, dweight.
inline std::vector<TestMatrix> GatedNormOutputs(const GatedNormProblem& p) {
  const TestMatrix like(p.y.dtype(), p.rows(), p.width());
  return {like, TestMatrix(DType::kF32, p.rows(), p.groups, 0), like, like,
          TestMatrix(DType::kF32, p.rows() / p.rows_per_leaf, p.width(), 0)};
}

inline void RunGatedNorm(Device& device, const GatedNormProblem& p,
                         std::vector<TestMatrix>& out) {
  GatedNormForward(
      device, {p.rows(), p.width(), p.groups, p.kEps, p.y.dtype(), p.y.data(),
               p.y.row_stride(), p.z.data(), p.z.row_stride(), p.weight.data(),
               out[0].data(), out[0].row_stride(), out[1].as<float>()});
  GatedNormBackward(
      device, {p.rows(), p.width(), p.groups, p.rows_per_leaf, p.y.dtype(),
               p.dout.data(), p.dout.row_stride(), p.y.data(), p.y.row_stride(),
               p.z.data(), p.z.row_stride(), out[1].as<float>(),
               p.weight.data(), out[2].data(), out[2].row_stride(),
               out[3].data(), out[3].row_stride(), out[4].as<float>()});
}

inline std::vector<TestMatrix> RunGatedNormEverywhere(
    const GatedNormProblem& p) {
  return ExpectSameOnEveryDevice(
      GatedNormOutputs(p),
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunGatedNorm(device, p, outputs);
      });
}

class GatedNormReference {
 public:
  explicit GatedNormReference(const GatedNormProblem& p,
                              NormOrder order = NormOrder::kWritten)
      : p_(p),
        order_(order),
        group_width_(p.width() / p.groups),
        out_(GatedNormOutputs(p)) {
    const ScopedFloatEnv env;
    for (int64_t i = 0; i < p.rows(); ++i) {
      for (int64_t group = 0; group < p.groups; ++group) Group(i, group);
    }
    for (int64_t leaf = 0; leaf < out_[4].rows(); ++leaf) {
      for (int64_t c = 0; c < p.width(); ++c) Weight(leaf, c);
    }
  }

  const std::vector<TestMatrix>& out() const { return out_; }

 private:
  float Y(int64_t i, int64_t j) const {
    return static_cast<float>(p_.y.At(i, j));
  }
  float Z(int64_t i, int64_t j) const {
    return static_cast<float>(p_.z.At(i, j));
  }
  float Dout(int64_t i, int64_t j) const {
    return static_cast<float>(p_.dout.At(i, j));
  }
  float Silu(int64_t i, int64_t j) const {
    return Z(i, j) * math::Sigmoid(Z(i, j));
  }
  float M(int64_t i, int64_t j) const { return Y(i, j) * Silu(i, j); }
  float Rstd(int64_t i, int64_t j) const {
    return static_cast<float>(out_[1].At(i, j / group_width_));
  }

  void Group(int64_t i, int64_t group) {
    const int64_t first = group * group_width_;
    const auto width = static_cast<float>(group_width_);
    std::vector<float> terms(group_width_);
    for (int64_t j = 0; j < group_width_; ++j) {
      terms[j] = M(i, first + j) * M(i, first + j);
    }
    const float mean = NormRowSum(order_, terms) / width;
    const float rstd =
        1.0f / std::sqrt(mean + static_cast<float>(GatedNormProblem::kEps));
    out_[1].Set(i, group, rstd);
    for (int64_t j = 0; j < group_width_; ++j) {
      const int64_t c = first + j;
      out_[0].Set(i, c, (M(i, c) * rstd) * p_.weight[c]);
      terms[j] = (Dout(i, c) * p_.weight[c]) * (M(i, c) * rstd);
    }
    const float mu = NormRowSum(order_, terms) / width;
    for (int64_t c = first; c < first + group_width_; ++c) {
      const float q = Dout(i, c) * p_.weight[c];
      const float dm = rstd * (q - (M(i, c) * rstd) * mu);
      const float sg = math::Sigmoid(Z(i, c));
      out_[2].Set(i, c, dm * Silu(i, c));
      out_[3].Set(i, c, (dm * Y(i, c)) * (sg * (1.0f + Z(i, c) * (1.0f - sg))));
    }
  }

  void Weight(int64_t leaf, int64_t c) {
    out_[4].Set(leaf, c, NormLeafSum(order_, p_.rows_per_leaf, [&](int64_t r) {
                  const int64_t i = leaf * p_.rows_per_leaf + r;
                  return Dout(i, c) * (M(i, c) * Rstd(i, c));
                }));
  }

  const GatedNormProblem& p_;
  const NormOrder order_;
  const int64_t group_width_;
  std::vector<TestMatrix> out_;
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_GATED_NORM_GATED_NORM_TESTING_H_
