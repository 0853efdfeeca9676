// Elementary functions of binary64 for scalars (clause N6).
//
// For clip factors, schedules, bias corrections: few values, computed in one
// place on every rank, and their bits become state. libm's functions change
// with the CPU; these are fixed polynomials over std::fma, which is defined
// exactly and so the same with or without the instruction. Scalar only and not
// tuned: arrays of binary32 have math.h. Under N2; results below 2^-1022 are 0.
// Errors: MATH.md. The coefficients come from math_coefficients.py.

#ifndef DETERMINISM_MATH64_H_
#define DETERMINISM_MATH64_H_

#include <cstdint>

namespace lockstep {
namespace math64 {

// All of them: NaN gives NaN; within 1 ulp (CosPi: of 1 where |x| is near 1/2).

// 2^x and e^x; +infinity above the range, 0 below it.
double Exp2(double x);
double Exp(double x);

// Base 2 and natural logarithm; -infinity at 0, NaN below. Log2 is exact at
// powers of two.
double Log2(double x);
double Log(double x);

// cos(pi x), exact at multiples of 1/2; infinities give NaN.
double CosPi(double x);

// base^n by squaring from the lowest bit of n up, each product rounded once:
// the order is part of the trajectory. PowInt(x, 0) = 1.
double PowInt(double base, uint64_t n);

}  // namespace math64
}  // namespace lockstep

#endif  // DETERMINISM_MATH64_H_
