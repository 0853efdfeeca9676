#include "ckpt/moment_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {
namespace {

// Of one rounding in fp32, relative; and the roundings that a weight of either
// moment meets in an update: of the scalar, of two products, of the sum.
constexpr double kRounding = 0x1p-24;
constexpr int kRoundings = 4;

constexpr double FourTimes(double factor) {
  return factor * factor * factor * factor;
}
// What is below is flushed: at most once a rounding, in fp32 and here.
constexpr double kFlushed = 2 * kRoundings * 0x1p-126;

// So many at once, without a way out in between: the compiler's vectors.
constexpr int64_t kBlock = 1024;

}  // namespace

std::optional<MomentBound> MomentBound::Of(std::span<const AdamBetas> betas) {
  if (betas.empty()) return std::nullopt;
  constexpr double up = FourTimes(1 + kRounding);
  constexpr double down = FourTimes(1 - kRounding);
  double ratio = 0, m_floor = 0, v_floor = 0;
  for (const AdamBetas& b : betas) {
    const double shrink = b.first * b.first * up * up / (b.second * down);
    if (b.first != 0 && !(shrink < 1)) return std::nullopt;
    const double fresh = (1 - b.first) * up;
    const double fixed_point =
        fresh * fresh /
        ((1 - b.second) * down * (b.first == 0 ? 1 : 1 - shrink));
    ratio = std::max(ratio, fixed_point);
    // Each update adds what it flushed to what is left of the ones before.
    m_floor = std::max(m_floor, kFlushed / (1 - b.first * up));
    v_floor = std::max(v_floor, kFlushed / (1 - b.second));
  }
  // Of the arithmetic here and there.
  ratio *= 1 + 1e-12;
  if (!std::isfinite(ratio) || !std::isfinite(m_floor) ||
      !std::isfinite(v_floor)) {
    return std::nullopt;
  }
  return MomentBound(ratio, m_floor, v_floor);
}

int64_t MomentBound::FirstBeyond(const float* m, const float* v, int64_t begin,
                                 int64_t end) const {
  const auto any_in_block = [&](int64_t at) {
    int any = 0;
    for (int64_t i = at; i < at + kBlock; ++i) {
      any |= Allows(m[i], v[i]) ? 0 : 1;
    }
    return any != 0;
  };
  int64_t at = begin;
  while (at + kBlock <= end && !any_in_block(at)) at += kBlock;
  for (; at < end; ++at) {
    if (!Allows(m[at], v[at])) return at;
  }
  return -1;
}

double MomentBound::Most(float v) const {
  return std::sqrt(ratio_ * (double{v} + v_floor_)) + m_floor_;
}

}  // namespace lockstep
