// Runs of the layout matrix: each writes the metrics.jsonl of its reference.
//
// One source, two tests. By default the rows that cover most, for a few steps;
// as a soak (LOCKSTEP_MATRIX_STEPS) all of them, which cover every pair.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "determinism/check.h"
#include "tests/layout_matrix/matrix_run.h"

namespace lockstep {
namespace {

constexpr size_t kRowsByDefault = 30;
constexpr int64_t kStepsByDefault = 4;

// 0: not a soak.
int64_t SoakSteps() {
  const char* text = std::getenv("LOCKSTEP_MATRIX_STEPS");
  int64_t steps = 0;
  if (text != nullptr) LS_CHECK(absl::SimpleAtoi(text, &steps)) << text;
  return steps;
}

// Chosen once: a test is made of each row before any of them runs.
struct Matrix {
  DesignSpace space = MatrixSpace(ThisMachine());
  std::vector<DesignRow> rows = CoveringDesign(space);
  size_t of = rows.size();
  // In a soak fp16 begins with a scale at which gradients overflow.
  MatrixRunner runner = {space, SoakSteps() > 0 ? SoakSteps() : kStepsByDefault,
                         SoakSteps() > 0 ? 1 << 24 : 1 << 10};
  Matrix() {
    if (SoakSteps() == 0) rows.resize(std::min(rows.size(), kRowsByDefault));
  }
};

Matrix& TheMatrix() {
  static auto& matrix = *new Matrix;
  return matrix;
}

class MatrixTest : public testing::TestWithParam<size_t> {};

TEST_P(MatrixTest, WritesTheRunOfItsReference) {
  Matrix& matrix = TheMatrix();
  const std::string said = matrix.runner.Compare(matrix.rows[GetParam()]);
  printf("run %zu of %zu: %s\n", GetParam() + 1, matrix.rows.size(),
         said.c_str());
  fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(Rows, MatrixTest,
                         testing::Range<size_t>(0, TheMatrix().rows.size()));

TEST(MatrixSizeTest, WhatTheseRunsCover) {
  const Matrix& matrix = TheMatrix();
  const size_t valid = ValidPairs(matrix.space).size();
  const size_t open = Uncovered(matrix.space, matrix.rows).size();
  printf("%zu of the design's %zu runs: %zu of %zu valid pairs\n",
         matrix.rows.size(), matrix.of, valid - open, valid);
  ASSERT_GE(matrix.rows.size(), kRowsByDefault);
  if (SoakSteps() == 0) {
    EXPECT_LT(open, valid / 3);
    return;
  }
  EXPECT_GE(SoakSteps(), 50);
  EXPECT_LE(matrix.rows.size(), 250u);
  EXPECT_EQ(open, 0u);
}

}  // namespace
}  // namespace lockstep
