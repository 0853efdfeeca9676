// Tails and quantiles against other people's: mpmath and scipy
// (tests/oracle/make_statistics.py), and printed tables.
#include "tools/compare/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "determinism/file_system.h"
#include "determinism/math64.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

Json Golden() {
  const auto text =
      PosixFileSystem()->ReadFile("tests/oracle/golden/statistics.json");
  EXPECT_TRUE(text.ok());
  return Json::parse(*text);
}

// Rows are [argument, degrees of freedom, wanted]. LogGamma's differences lose
// as many digits as its values have more than the result.
template <typename F>
void ExpectRows(const Json& rows, const F& function) {
  ASSERT_GE(rows.size(), 8u);
  for (const Json& row : rows) {
    const double wanted = row.back().get<double>();
    const double tolerance = 1e-12 + 3e-15 * row[1].get<double>();
    const double got = function(row);
    EXPECT_LE(std::abs(got - wanted), tolerance * std::abs(wanted))
        << row << " got " << got;
  }
}

TEST(DistributionsTest, GoldenValues) {
  const Json golden = Golden();
  for (const Json& row : golden["log_gamma"]) {
    const double wanted = row[1].get<double>();
    EXPECT_NEAR(LogGamma(row[0].get<double>()), wanted,
                4e-15 * std::max(1.0, std::abs(wanted)))
        << row;
  }
  ExpectRows(golden["student_tail"], [](const Json& row) {
    return StudentTwoSidedTail(row[0].get<double>(), row[1].get<double>());
  });
  ExpectRows(golden["student_quantile"], [](const Json& row) {
    return StudentTwoSidedQuantile(row[0].get<double>(), row[1].get<double>());
  });
  ExpectRows(golden["chi_square_quantile"], [](const Json& row) {
    return ChiSquareQuantile(row[0].get<double>(), row[1].get<double>());
  });
}

// As printed in every table of the t and chi-square distributions.
TEST(DistributionsTest, PrintedTables) {
  EXPECT_NEAR(StudentTwoSidedQuantile(0.05, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentTwoSidedQuantile(0.05, 3), 3.182, 5e-4);
  EXPECT_NEAR(StudentTwoSidedQuantile(0.05, 6), 2.447, 5e-4);
  EXPECT_NEAR(StudentTwoSidedQuantile(0.01, 10), 3.169, 5e-4);
  EXPECT_NEAR(StudentTwoSidedQuantile(0.05, 1e6), 1.960, 5e-4);
  EXPECT_NEAR(ChiSquareQuantile(0.95, 1), 3.841, 5e-4);
  EXPECT_NEAR(ChiSquareQuantile(0.025, 3), 0.216, 5e-4);
  EXPECT_NEAR(ChiSquareQuantile(0.975, 10), 20.483, 5e-4);
}

// Closed forms: dof 1 is Cauchy's distribution, dof 2 has a root; I_x(a, 1) is
// x^a; chi-square with 2 degrees is the exponential distribution.
TEST(DistributionsTest, ClosedForms) {
  for (const double t : {0.01, 0.5, 1.0, 3.0, 30.0}) {
    EXPECT_NEAR(StudentTwoSidedTail(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14);
  }
  EXPECT_NEAR(StudentTwoSidedTail(1, 1), 0.5, 1e-14);
  for (const double x : {0.001, 0.3, 0.999}) {
    EXPECT_NEAR(IncompleteBeta(x, 1 - x, 3, 1), x * x * x, 1e-14);
    EXPECT_NEAR(
        IncompleteBeta(x, 1 - x, 2.5, 0.5) + IncompleteBeta(1 - x, x, 0.5, 2.5),
        1, 1e-14);
    EXPECT_NEAR(IncompleteGamma(1, x), 1 - math64::Exp(-x), 1e-14);
  }
  EXPECT_EQ(StudentTwoSidedTail(0, 5), 1);
  EXPECT_EQ(StudentTwoSidedTail(1e200, 5), 0);
  EXPECT_EQ(StudentTwoSidedTail(-2.5, 5), StudentTwoSidedTail(2.5, 5));
}

TEST(DistributionsTest, AQuantileIsTheTailsInverse) {
  for (const double dof : {1.0, 2.7, 5.777, 40.0}) {
    for (const double tail : {0.9, 0.05, 1e-4}) {
      const double t = StudentTwoSidedQuantile(tail, dof);
      EXPECT_NEAR(StudentTwoSidedTail(t, dof), tail, 1e-13 * tail + 1e-14);
    }
  }
}

}  // namespace
}  // namespace lockstep
