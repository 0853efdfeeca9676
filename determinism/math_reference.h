// MPFR as the judge of math.h and math64.h, for tests and the soak.
//
// True values come with 160 bits. The environment of N2 is part of the
// judgement: a subnormal argument counts as a zero of its sign, and a true
// value below 2^-126 must come out as zero (or, within half an ulp of it, as
// 2^-126).

#ifndef DETERMINISM_MATH_REFERENCE_H_
#define DETERMINISM_MATH_REFERENCE_H_

#include <mpfr.h>

#include <vector>

#include "determinism/math_array.h"

namespace lockstep {

struct ReferenceFunction {
  const char* name;
  ArrayFunction ArrayFunctions::*array;
  // result = f(x), to the precision of result.
  void (*value)(mpfr_t result, const mpfr_t x);
  // Nearly the same in binary64 from libm, relative error below 2^-45: lets the
  // soak pass over inputs that are plainly right.
  double (*approximate)(double x);
  double max_error_ulp;  // the promise of MATH.md
  int monotone;          // +1 rising, -1 falling, 0 neither
};

const std::vector<ReferenceFunction>& ReferenceFunctions();

// Holds MPFR's temporaries; one a thread.
class MathReference {
 public:
  MathReference();
  ~MathReference();
  MathReference(const MathReference&) = delete;
  MathReference& operator=(const MathReference&) = delete;

  // Error of y as f(x), in units in the last place of the true value; infinite
  // where NaN, infinity, zero or a sign is wrong.
  double ErrorUlp(const ReferenceFunction& function, float x, float y);

  // Whether the binary64 estimate alone shows that y is right to within
  // `limit_ulp` (above 0.1) less a margin that covers libm's errors. False
  // means that MPFR has to be asked.
  static bool PlainlyWithin(const ReferenceFunction& function, float x, float y,
                            double limit_ulp);

  // ErrorUlp of a binary64 function.
  double ErrorUlp64(void (*value)(mpfr_t, const mpfr_t), double x, double y);

 private:
  double Judge(double y, int significand_bits, int min_exponent,
               int max_exponent);

  mpfr_t x_;
  mpfr_t true_;
  mpfr_t error_;
};

}  // namespace lockstep

#endif  // DETERMINISM_MATH_REFERENCE_H_
