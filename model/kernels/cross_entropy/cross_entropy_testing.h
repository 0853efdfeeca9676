// Rows of logits to test cross-entropy with.

#ifndef MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TESTING_H_
#define MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TESTING_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/testing.h"

namespace lockstep {

struct CrossEntropyProblem {
  TestMatrix logits;
  std::vector<int32_t> labels;
  std::vector<uint8_t> mask;
};

// Padded logits are NaN and masked rows have no label: neither may be read.
inline CrossEntropyProblem RandomCrossEntropy(int64_t rows, int64_t vocab,
                                              int64_t padded) {
  CrossEntropyProblem p{RandomMatrix(DType::kF32, rows, padded, 1, -8, 8),
                        std::vector<int32_t>(rows), std::vector<uint8_t>(rows)};
  for (int64_t i = 0; i < rows; ++i) {
    p.mask[i] = i % 5 != 2;
    p.labels[i] = p.mask[i] ? static_cast<int32_t>(i * 997 % vocab) : -1;
    for (int64_t j = vocab; j < padded; ++j) {
      p.logits.Set(i, j, std::nanf(""));
    }
  }
  return p;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TESTING_H_
