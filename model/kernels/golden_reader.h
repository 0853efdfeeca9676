// Reads a golden file of tests/oracle for a test: safetensors without
// hostility.
//
// For tests of kernels and layers only. The trainer's own reader, which
// distrusts what it reads, is in ckpt, a floor above. A missing file or tensor
// ends the test.

#ifndef MODEL_KERNELS_GOLDEN_READER_H_
#define MODEL_KERNELS_GOLDEN_READER_H_

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "determinism/check.h"

namespace lockstep {

class GoldenFile {
 public:
  // `name` below tests/oracle/golden, "layers.safetensors"; the test's data
  // must list //tests/oracle:golden.
  explicit GoldenFile(const std::string& name) {
    std::ifstream in("tests/oracle/golden/" + name, std::ios::binary);
    LS_CHECK(in.good()) << name;
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    uint64_t header = 0;
    LS_CHECK(bytes_.size() >= sizeof(header)) << name;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    data_ = sizeof(header) + header;
    LS_CHECK(data_ <= bytes_.size()) << name;
    index_ = nlohmann::json::parse(bytes_.substr(sizeof(header), header));
  }

  std::vector<int64_t> Shape(const std::string& tensor) const {
    return Entry(tensor)["shape"].get<std::vector<int64_t>>();
  }

  // F64 or F32, widened.
  std::vector<double> Doubles(const std::string& tensor) const {
    const std::string dtype = Entry(tensor)["dtype"].get<std::string>();
    if (dtype == "F64") return Raw<double>(tensor);
    LS_CHECK_EQ(dtype, "F32");
    const std::vector<float> narrow = Raw<float>(tensor);
    return std::vector<double>(narrow.begin(), narrow.end());
  }

  std::vector<float> Floats(const std::string& tensor) const {
    LS_CHECK_EQ(Entry(tensor)["dtype"].get<std::string>(), "F32");
    return Raw<float>(tensor);
  }

  std::vector<int32_t> Ints(const std::string& tensor) const {
    LS_CHECK_EQ(Entry(tensor)["dtype"].get<std::string>(), "I32");
    return Raw<int32_t>(tensor);
  }

 private:
  const nlohmann::json& Entry(const std::string& tensor) const {
    LS_CHECK(index_.contains(tensor)) << tensor;
    return index_.at(tensor);
  }

  template <class T>
  std::vector<T> Raw(const std::string& tensor) const {
    const nlohmann::json& range = Entry(tensor)["data_offsets"];
    const size_t begin = range[0].get<size_t>(), end = range[1].get<size_t>();
    LS_CHECK(begin <= end && data_ + end <= bytes_.size()) << tensor;
    std::vector<T> values((end - begin) / sizeof(T));
    std::memcpy(values.data(), bytes_.data() + data_ + begin, end - begin);
    return values;
  }

  std::string bytes_;
  size_t data_ = 0;
  nlohmann::json index_;
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_GOLDEN_READER_H_
