// Student's t and chi-square, for verdicts over a few runs.
//
// What it is: tails and quantiles of the two distributions that a comparison of
// means and an interval of a deviation need, from the incomplete beta and gamma
// functions. What it is not: a statistics library, or part of a trajectory:
// nothing here decides a bit of a run. Why so: with four seeds an arm the
// normal distribution is wrong where it matters, and libm's lgamma has other
// bits on other machines; the same numbers are to give the same verdict.
// Relative errors are below 1e-12 + 3e-15 dof, up to a million degrees.
#ifndef LOCKSTEP_TOOLS_COMPARE_DISTRIBUTIONS_H_
#define LOCKSTEP_TOOLS_COMPARE_DISTRIBUTIONS_H_

namespace lockstep {

// ln of the gamma function, x > 0.
double LogGamma(double x);

// The regularised incomplete beta function I_x(a, b), 0 <= x <= 1. `y` is 1 - x
// as the caller knows it: where x is close to 1 a subtraction would lose it.
double IncompleteBeta(double x, double y, double a, double b);

// The regularised lower incomplete gamma function P(a, x), x >= 0.
double IncompleteGamma(double a, double x);

// P(|T| >= |t|) for Student's t with `dof` > 0 degrees of freedom, which need
// not be whole.
double StudentTwoSidedTail(double t, double dof);

// The t >= 0 with P(|T| >= t) = `tail`, 0 < tail < 1.
double StudentTwoSidedQuantile(double tail, double dof);

// The x with P(X <= x) = `probability`, 0 < probability < 1.
double ChiSquareQuantile(double probability, double dof);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_DISTRIBUTIONS_H_
