// A product's memory for tests: operands of a hostile regime, a poisoned output
// with gaps between its rows, and a comparison that says where bits part.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_CASE_H_
#define MODEL_KERNELS_MATMUL_MATMUL_CASE_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/regimes.h"

namespace lockstep {

enum class Layout {
  kRows,
  kColumns,
  kStrided
};  // adjacent: columns, rows, none
inline constexpr int kLayouts = 3;

// Slice s is the s-th 1/count of each part (N4); the parts lie one after
// another.
using Slices = std::vector<std::vector<KSegment>>;
Slices FusedSlices(const std::vector<int64_t>& parts, int64_t count);
int64_t Sum(const std::vector<int64_t>& parts);

// Every type of c that a product can be rounded to, and the one it adds to.
struct MatmulOutput {
  DType dtype;
  bool accumulate;
};
constexpr MatmulOutput kMatmulOutputs[] = {{DType::kF32, false},
                                           {DType::kF32, true},
                                           {DType::kBF16, false},
                                           {DType::kF16, false}};
constexpr DType kMatmulOperands[] = {DType::kF32, DType::kBF16, DType::kF16};

struct MatmulSpec {
  int64_t m, n, k;
  DType dtype = DType::kF32;
  DType c_dtype = DType::kF32;
  bool accumulate = false;
  Layout a_layout = Layout::kRows;
  Layout b_layout = Layout::kRows;
  Regime regime = Regime::kUniform;
  int64_t batch = 1;
  Slices slices = {};
  SliceUse slice_use = SliceUse::kTree;
  int grid_exponent = 0;

  std::string Text() const;
};

class MatmulCase {
 public:
  MatmulCase(const MatmulSpec& spec, uint32_t seed);
  MatmulCase(const MatmulCase&) = delete;
  MatmulCase& operator=(const MatmulCase&) = delete;

  // Over a fresh copy of the poisoned output. With an I64 c, stats() is of the
  // last run.
  template <class Product>
  std::vector<std::byte> Run(Product product) {
    output_ = initial_output_;
    stats_ = {};
    args_.c = output_.data() + SizeOf(spec_.c_dtype);  // off alignment
    product(args_);
    return output_;
  }

  const MatmulArgs& args() const { return args_; }
  const GridStats& stats() const { return stats_; }

  // Elements of c that differ, gaps included; NaNs are one class. `report` gets
  // the first place and both values in hex. Adds to `compared`.
  int64_t CountDifferences(const std::vector<std::byte>& want,
                           const std::vector<std::byte>& got,
                           std::string* report, int64_t* compared) const;

 private:
  MatrixRef MakeOperand(int64_t rows, int64_t cols, Layout layout,
                        std::vector<std::byte>* memory, int64_t* batch_stride);
  void FillElement(DType dtype, std::byte* at);

  const MatmulSpec spec_;
  std::mt19937 random_;
  std::vector<std::byte> a_, b_, initial_output_, output_;
  std::vector<KSlice> slices_;
  GridStats stats_;
  MatmulArgs args_;
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_CASE_H_
