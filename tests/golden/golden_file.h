// Golden files of tests/oracle for tests: tensors by name, widened to double.
//
// What it is: a thin reader over the project's safetensors reader. What it is
// not: a place for tolerances. Why so: every golden test asks for a tensor by
// name and fails by that name when it is missing.
#ifndef LOCKSTEP_TESTS_GOLDEN_GOLDEN_FILE_H_
#define LOCKSTEP_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ckpt/safetensors.h"

namespace lockstep {

struct GoldenTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

class GoldenFile {
 public:
  // `name` is relative to tests/oracle/golden; a missing file ends the test.
  explicit GoldenFile(const std::string& name);

  // F32, F64 or I32; a missing name ends the test.
  GoldenTensor Get(const std::string& name) const;
  std::vector<std::string> Names() const { return file_->Names(); }

 private:
  std::unique_ptr<SafetensorsFile> file_;
};

// Largest |value - reference| and the largest |reference|.
struct Deviation {
  double worst = 0;
  double scale = 0;
  int64_t at = -1;
  double relative() const { return scale == 0 ? worst : worst / scale; }
};
Deviation Compare(const float* values, const std::vector<double>& reference);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_GOLDEN_GOLDEN_FILE_H_
