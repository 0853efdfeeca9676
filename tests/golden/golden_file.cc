#include "tests/golden/golden_file.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "determinism/check.h"
#include "determinism/file_system.h"

namespace lockstep {
namespace {

template <class T>
std::vector<double> Widen(const std::vector<std::byte>& bytes) {
  const T* data = reinterpret_cast<const T*>(bytes.data());
  return std::vector<double>(data, data + bytes.size() / sizeof(T));
}

}  // namespace

GoldenFile::GoldenFile(const std::string& name) {
  auto file =
      SafetensorsFile::Open(*PosixFileSystem(), "tests/oracle/golden/" + name);
  LS_CHECK(file.ok()) << std::string(file.status().message());
  file_ = *std::move(file);
}

GoldenTensor GoldenFile::Get(const std::string& name) const {
  const SafetensorsEntry* entry = file_->Find(name);
  LS_CHECK(entry != nullptr) << "no golden tensor " << name;
  std::vector<std::byte> bytes(entry->size_bytes);
  const absl::Status read = file_->ReadTensor(name, bytes);
  LS_CHECK(read.ok()) << std::string(read.message());
  switch (entry->dtype) {
    case DType::kF32:
      return {entry->shape, Widen<float>(bytes)};
    case DType::kF64:
      return {entry->shape, Widen<double>(bytes)};
    default:
      LS_CHECK(entry->dtype == DType::kI32) << name;
      return {entry->shape, Widen<int32_t>(bytes)};
  }
}

Deviation Compare(const float* values, const std::vector<double>& reference) {
  Deviation deviation;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double difference = std::fabs(values[i] - reference[i]);
    // Written so that a NaN counts as the worst.
    if (!(difference <= deviation.worst)) {
      deviation.worst = difference;
      deviation.at = static_cast<int64_t>(i);
    }
    deviation.scale = std::max(deviation.scale, std::fabs(reference[i]));
  }
  return deviation;
}

}  // namespace lockstep
