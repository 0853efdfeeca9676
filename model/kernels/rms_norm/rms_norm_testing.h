// A norm to run in tests, and the formulas of rms_norm.h one number at a time.

#ifndef MODEL_KERNELS_RMS_NORM_RMS_NORM_TESTING_H_
#define MODEL_KERNELS_RMS_NORM_RMS_NORM_TESTING_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "determinism/float_env.h"
#include "model/device.h"
#include "model/kernels/norm_testing.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "model/kernels/testing.h"

namespace lockstep {

struct RmsNormProblem {
  TestMatrix x, dy;
  std::vector<float> weight;
  int64_t groups;
  int64_t rows_per_leaf;

  static constexpr double kEps = 1e-5;
  int64_t rows() const { return x.rows(); }
  int64_t width() const { return x.columns(); }
};

// y, rstd, dx, dweight.
inline std::vector<TestMatrix> RmsNormOutputs(const RmsNormProblem& p) {
  const TestMatrix like(p.x.dtype(), p.rows(), p.width());
  return {like, TestMatrix(DType::kF32, p.rows(), p.groups, 0), like,
          TestMatrix(DType::kF32, p.rows() / p.rows_per_leaf, p.width(), 0)};
}

inline void RunRmsNorm(Device& device, const RmsNormProblem& p,
                       std::vector<TestMatrix>& out) {
  RmsNormForward(
      device, {p.rows(), p.width(), p.groups, p.kEps, p.x.dtype(), p.x.data(),
               p.x.row_stride(), p.weight.data(), out[0].data(),
               out[0].row_stride(), out[1].as<float>()});
  RmsNormBackward(device,
                  {p.rows(), p.width(), p.groups, p.rows_per_leaf, p.x.dtype(),
                   p.dy.data(), p.dy.row_stride(), p.x.data(), p.x.row_stride(),
                   out[1].as<float>(), p.weight.data(), out[2].data(),
                   out[2].row_stride(), out[3].as<float>()});
}

inline std::vector<TestMatrix> RunRmsNormEverywhere(const RmsNormProblem& p) {
  return ExpectSameOnEveryDevice(
      RmsNormOutputs(p), [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunRmsNorm(device, p, outputs);
      });
}

class RmsNormReference {
 public:
  explicit RmsNormReference(const RmsNormProblem& p,
                            NormOrder order = NormOrder::kWritten)
      : p_(p),
        order_(order),
        group_width_(p.width() / p.groups),
        out_(RmsNormOutputs(p)) {
    const ScopedFloatEnv env;
    for (int64_t i = 0; i < p.rows(); ++i) {
      for (int64_t group = 0; group < p.groups; ++group) Group(i, group);
    }
    for (int64_t leaf = 0; leaf < out_[3].rows(); ++leaf) {
      for (int64_t c = 0; c < p.width(); ++c) Weight(leaf, c);
    }
  }

  const std::vector<TestMatrix>& out() const { return out_; }

 private:
  float X(int64_t i, int64_t j) const {
    return static_cast<float>(p_.x.At(i, j));
  }
  float Dy(int64_t i, int64_t j) const {
    return static_cast<float>(p_.dy.At(i, j));
  }
  float Rstd(int64_t i, int64_t j) const {
    return static_cast<float>(out_[1].At(i, j / group_width_));
  }

  void Group(int64_t i, int64_t group) {
    const int64_t first = group * group_width_;
    const auto width = static_cast<float>(group_width_);
    std::vector<float> terms(group_width_);
    for (int64_t j = 0; j < group_width_; ++j) {
      terms[j] = X(i, first + j) * X(i, first + j);
    }
    const float mean = NormRowSum(order_, terms) / width;
    const float rstd =
        1.0f / std::sqrt(mean + static_cast<float>(RmsNormProblem::kEps));
    out_[1].Set(i, group, rstd);
    for (int64_t j = 0; j < group_width_; ++j) {
      const int64_t c = first + j;
      out_[0].Set(i, c, (X(i, c) * rstd) * p_.weight[c]);
      terms[j] = (Dy(i, c) * p_.weight[c]) * (X(i, c) * rstd);
    }
    const float mu = NormRowSum(order_, terms) / width;
    for (int64_t c = first; c < first + group_width_; ++c) {
      const float q = Dy(i, c) * p_.weight[c];
      out_[2].Set(i, c, rstd * (q - (X(i, c) * rstd) * mu));
    }
  }

  void Weight(int64_t leaf, int64_t c) {
    out_[3].Set(leaf, c, NormLeafSum(order_, p_.rows_per_leaf, [&](int64_t r) {
                  const int64_t i = leaf * p_.rows_per_leaf + r;
                  return Dy(i, c) * (X(i, c) * Rstd(i, c));
                }));
  }

  const RmsNormProblem& p_;
  const NormOrder order_;
  const int64_t group_width_;
  std::vector<TestMatrix> out_;
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_RMS_NORM_RMS_NORM_TESTING_H_
