#include "determinism/fingerprint.h"

#include <algorithm>

#include "determinism/check.h"
#include "determinism/sha256.h"

namespace lockstep {
namespace {

std::string RecordOf(const TensorFingerprint& tensor) {
  std::string shape;
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) {
    shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    count *= extent;
  }
  return std::to_string(tensor.name.size()) + ":" + tensor.name + " " +
         NameOf(tensor.dtype) + " [" + shape + "] " + std::to_string(count) +
         " " + tensor.value.Hex() + "\n";
}

}  // namespace

std::string Fingerprint::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint64_t value : lane) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      hex += kDigits[value >> shift & 15];
    }
  }
  return hex;
}

std::string FieldFingerprint(std::vector<TensorFingerprint> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  Sha256 hash;
  for (size_t i = 0; i < tensors.size(); ++i) {
    LS_CHECK(i == 0 || tensors[i - 1].name != tensors[i].name)
        << "two tensors named " << tensors[i].name;
    hash.Update(std::string_view(RecordOf(tensors[i])));
  }
  return hash.Hex().substr(0, 32);
}

}  // namespace lockstep
