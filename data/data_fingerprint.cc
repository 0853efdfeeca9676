#include "data/data_fingerprint.h"

#include "determinism/check.h"
#include "determinism/dtype.h"

namespace lockstep {

DataFingerprint& DataFingerprint::operator+=(const DataFingerprint& other) {
  tokens += other.tokens;
  mask += other.mask;
  samples += other.samples;
  return *this;
}

DataFingerprint FingerprintSample(uint64_t global_index,
                                  std::span<const int32_t> tokens,
                                  std::span<const uint8_t> mask) {
  LS_CHECK_EQ(tokens.size(), mask.size() + 1);
  DataFingerprint result;
  result.tokens = FingerprintBytes(tokens.data(), tokens.size_bytes(),
                                   global_index * tokens.size_bytes());
  result.mask = FingerprintBytes(mask.data(), mask.size_bytes(),
                                 global_index * mask.size_bytes());
  result.samples = 1;
  return result;
}

std::string StepDataFingerprint(const DataFingerprint& sum, int64_t sequence) {
  return FieldFingerprint({
      {"mask", DType::kU8, {sum.samples, sequence}, sum.mask},
      {"tokens", DType::kI32, {sum.samples, sequence + 1}, sum.tokens},
  });
}

}  // namespace lockstep
