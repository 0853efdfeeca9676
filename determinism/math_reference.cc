#include "determinism/math_reference.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lockstep {
namespace {

constexpr int kPrecisionBits = 160;
constexpr double kWrong = std::numeric_limits<double>::infinity();

void ExpValue(mpfr_t r, const mpfr_t x) { mpfr_exp(r, x, MPFR_RNDN); }
void LogValue(mpfr_t r, const mpfr_t x) { mpfr_log(r, x, MPFR_RNDN); }
void Log1pValue(mpfr_t r, const mpfr_t x) { mpfr_log1p(r, x, MPFR_RNDN); }
void TanhValue(mpfr_t r, const mpfr_t x) { mpfr_tanh(r, x, MPFR_RNDN); }
void SinValue(mpfr_t r, const mpfr_t x) { mpfr_sin(r, x, MPFR_RNDN); }
void CosValue(mpfr_t r, const mpfr_t x) { mpfr_cos(r, x, MPFR_RNDN); }

void SigmoidValue(mpfr_t r, const mpfr_t x) {
  mpfr_neg(r, x, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

// Above 200 what is added to x is below the precision used here.
void SoftplusValue(mpfr_t r, const mpfr_t x) {
  if (mpfr_cmp_ui(x, 200) > 0) {
    mpfr_set(r, x, MPFR_RNDN);
    return;
  }
  mpfr_exp(r, x, MPFR_RNDN);
  mpfr_log1p(r, r, MPFR_RNDN);
}

// Not mpfr_rec_sqrt, which gives +infinity at -0.
void RsqrtValue(mpfr_t r, const mpfr_t x) {
  mpfr_sqrt(r, x, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

double SigmoidApproximate(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double SoftplusApproximate(double x) {
  return x > 200.0 ? x : std::log1p(std::exp(x));
}
double RsqrtApproximate(double x) { return 1.0 / std::sqrt(x); }

double DropSubnormal(double x, double smallest_normal) {
  return std::fabs(x) < smallest_normal ? std::copysign(0.0, x) : x;
}

}  // namespace

const std::vector<ReferenceFunction>& ReferenceFunctions() {
  using F = ArrayFunctions;
  static const auto* const functions = new std::vector<ReferenceFunction>{
      {"exp", &F::exp, ExpValue, std::exp, 1.0, 1},
      {"log", &F::log, LogValue, std::log, 1.0, 1},
      {"log1p", &F::log1p, Log1pValue, std::log1p, 1.0, 1},
      {"sigmoid", &F::sigmoid, SigmoidValue, SigmoidApproximate, 2.5, 1},
      {"softplus", &F::softplus, SoftplusValue, SoftplusApproximate, 2.0, 1},
      {"tanh", &F::tanh, TanhValue, std::tanh, 1.5, 1},
      {"rsqrt", &F::rsqrt, RsqrtValue, RsqrtApproximate, 1.5, -1},
      {"sin", &F::sin, SinValue, std::sin, 1.0, 0},
      {"cos", &F::cos, CosValue, std::cos, 1.0, 0},
  };
  return *functions;
}

MathReference::MathReference() {
  mpfr_inits2(kPrecisionBits, x_, true_, error_,
              static_cast<mpfr_ptr>(nullptr));
}

MathReference::~MathReference() {
  mpfr_clears(x_, true_, error_, static_cast<mpfr_ptr>(nullptr));
}

double MathReference::Judge(double y, int significand_bits, int min_exponent,
                            int max_exponent) {
  if (mpfr_nan_p(true_) != 0) return std::isnan(y) ? 0.0 : kWrong;
  if (std::isnan(y)) return kWrong;
  if ((mpfr_signbit(true_) != 0) != std::signbit(y)) return kWrong;
  if (mpfr_inf_p(true_) != 0) return std::isinf(y) ? 0.0 : kWrong;
  if (mpfr_zero_p(true_) != 0) return y == 0.0 ? 0.0 : kWrong;
  // MPFR's exponent is that of a significand in [1/2, 1).
  const auto exponent = static_cast<int>(mpfr_get_exp(true_)) - 1;
  if (exponent < min_exponent) {
    const bool nearly_normal = exponent == min_exponent - 1 &&
                               std::fabs(y) == std::ldexp(1.0, min_exponent) &&
                               mpfr_get_d(true_, MPFR_RNDN) == y;
    return y == 0.0 || nearly_normal ? 0.0 : kWrong;
  }
  // The largest finite number and infinity stand one ulp apart here.
  const bool overflow = std::isinf(y);
  if (overflow) {
    mpfr_set_ui_2exp(error_, 1, max_exponent + 1, MPFR_RNDN);
    if (std::signbit(y)) mpfr_neg(error_, error_, MPFR_RNDN);
  } else {
    mpfr_set_d(error_, y, MPFR_RNDN);
  }
  mpfr_sub(error_, error_, true_, MPFR_RNDN);
  mpfr_mul_2si(error_, error_, significand_bits - 1 - exponent, MPFR_RNDN);
  const double ulp = std::fabs(mpfr_get_d(error_, MPFR_RNDN));
  return overflow && exponent > max_exponent ? 0.0 : ulp;
}

double MathReference::ErrorUlp(const ReferenceFunction& function, float x,
                               float y) {
  mpfr_set_d(x_, DropSubnormal(x, 0x1p-126), MPFR_RNDN);
  function.value(true_, x_);
  return Judge(y, 24, -126, 127);
}

bool MathReference::PlainlyWithin(const ReferenceFunction& function, float x,
                                  float y, double limit_ulp) {
  constexpr double kMarginUlp = 0x1p-20;
  const double want = function.approximate(DropSubnormal(x, 0x1p-126));
  if (want != want) return y != y;
  const double magnitude = std::fabs(want);
  const bool same_sign = std::signbit(want) == std::signbit(y);
  if (magnitude > 0x1.000002p+128) return same_sign && std::isinf(y);
  if (magnitude < 0x1.fffffp-127) return same_sign && y == 0.0f;
  if (magnitude < 0x1.00001p-126 || magnitude > 0x1.fffffp+127) return false;
  const uint64_t exponent_bits =
      std::bit_cast<uint64_t>(magnitude) & (uint64_t{0x7ff} << 52);
  const double ulp =
      std::bit_cast<double>(exponent_bits - (uint64_t{23} << 52));
  return std::fabs(y - want) < (limit_ulp - kMarginUlp) * ulp;
}

double MathReference::ErrorUlp64(void (*value)(mpfr_t, const mpfr_t), double x,
                                 double y) {
  mpfr_set_d(x_, DropSubnormal(x, 0x1p-1022), MPFR_RNDN);
  value(true_, x_);
  return Judge(y, 53, -1022, 1023);
}

}  // namespace lockstep
