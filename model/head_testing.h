// The head by itself on the ranks of a tensor axis, threads of this process.
//
// For head_test.cc: a problem with masked rows, a vocabulary that ends in
// padding, and ranks of different instruction sets.
#ifndef LOCKSTEP_MODEL_HEAD_TESTING_H_
#define LOCKSTEP_MODEL_HEAD_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "model/config.h"
#include "model/gradient_sum.h"
#include "model/head_cut.h"

namespace lockstep {

namespace head_testing {
inline constexpr int64_t kSamples = 4, kTokens = 40, kGrid = 4;
inline constexpr int64_t kRows = kSamples * kTokens;
inline constexpr int64_t kColumns = 1024;  // of the padded vocabulary
}  // namespace head_testing

struct HeadCase {
  DType storage = DType::kBF16;
  GradientMode mode = GradientMode::kGrid;
  int64_t slices = head_testing::kGrid;
  int64_t samples_per_leaf = 1;
  int degree = 1;
  bool sequence_parallel = false;
};

// Of one rank.
struct HeadBits {
  std::vector<float> losses, evaluated;
  std::string dx;      // bytes
  std::string weight;  // bytes of the sum
  int64_t peak_bytes = 0, flops = 0;
};

ModelConfig HeadConfig();

// Each rank's.
std::vector<HeadBits> RunHead(const HeadCase& c, const HeadRoom& room);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_TESTING_H_
