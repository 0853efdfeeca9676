#include "model/update_fingerprints.h"

namespace lockstep {

UpdateFingerprints::UpdateFingerprints(const Parameter& p,
                                       const TensorShare& share,
                                       const Written& written)
    : owned_(p, share),
      data_{p.master, written.m, written.v},
      runtime_(written.runtime),
      runtime_bytes_(SizeOf(p.spec.runtime_dtype)) {}

void UpdateFingerprints::Add(int64_t begin, int64_t end) {
  std::array<Fingerprint, 3> sums = {};
  Fingerprint runtime;
  owned_.Add(data_, sizeof(float), begin, end, sums);
  if (runtime_ != nullptr) {
    owned_.Add({&runtime_, 1}, runtime_bytes_, begin, end, {&runtime, 1});
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < sums.size(); ++i) sums_[i] += sums[i];
  runtime_sum_ += runtime;
}

void UpdateFingerprints::Tell(const std::string& store_entry,
                              const std::string& optimizer_entry,
                              KnownFingerprints& known) const {
  known[store_entry + kMasterSuffix] = sums_[0];
  known[store_entry] = runtime_ == nullptr ? sums_[0] : runtime_sum_;
  known[optimizer_entry + kMomentSuffix] = sums_[1];
  known[optimizer_entry + kSquareSuffix] = sums_[2];
}

}  // namespace lockstep
