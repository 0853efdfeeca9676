// What Adam's second moment allows the first one to be.
//
// What it is: a bound that no update can pass, whatever the gradients were, so
// that a moment which was changed in memory, or has another scale than its
// partner, is seen where no saved hash can show it. What it is not: a proof
// that moments are right: most wrong values are within it.
//
// Why so: of the same gradients, m = sum w_i g_i and v = sum u_i g_i^2, hence
// m^2 <= sum(w_i^2 / u_i) v (Cauchy and Schwarz). An update takes that sum from
// d to d beta1^2 / beta2 + (1 - beta1)^2 / (1 - beta2). With beta1^2 < beta2 it
// has a fixed point, which no number of updates from zero passes; where betas
// change on the way, in whatever order, none passes the largest of theirs.
// Rounding in fp32 (adamw.h) changes each weight by a factor, whatever the
// gradients' signs, so it is as if the betas were others by it; what is flushed
// to zero (N2) adds a floor to both moments.

#ifndef CKPT_MOMENT_BOUND_H_
#define CKPT_MOMENT_BOUND_H_

#include <cstdint>
#include <optional>
#include <span>

namespace lockstep {

struct AdamBetas {
  double first = 0;
  double second = 0;
};

class MomentBound {
 public:
  // Of moments that began at zero and that only updates with these betas have
  // changed since, in any order and number. Absent: no such bound is finite.
  static std::optional<MomentBound> Of(std::span<const AdamBetas> betas);

  // A moment that is not finite is another check's affair. The floors make it
  // the same whether subnormals are read as zeros (N2) or not.
  bool Allows(float m, float v) const {
    const double over = (m < 0 ? -double{m} : double{m}) - m_floor_;
    return !(over > 0 && over * over > ratio_ * (double{v} + v_floor_));
  }
  // The place of the first element of [begin, end) that is not allowed, or -1.
  int64_t FirstBeyond(const float* m, const float* v, int64_t begin,
                      int64_t end) const;
  // The largest first moment beside `v`.
  double Most(float v) const;

 private:
  MomentBound(double ratio, double m_floor, double v_floor)
      : ratio_(ratio), m_floor_(m_floor), v_floor_(v_floor) {}

  double ratio_, m_floor_, v_floor_;
};

}  // namespace lockstep

#endif  // CKPT_MOMENT_BOUND_H_
