// Fingerprints of what an update wrote of one parameter, as it wrote it.
//
// What it is: those of master, both moments and run-time weight, added up block
// by block behind AdamW (adamw.h), which has the block in cache then. What it
// is not: a reading of the state: what changes it afterwards does not show here
// (a planted fault; state_fingerprint.h says who answers for that). Why so: the
// four are read at one place and share their keys, which cost more than the
// products with them (N11).
#ifndef LOCKSTEP_MODEL_UPDATE_FINGERPRINTS_H_
#define LOCKSTEP_MODEL_UPDATE_FINGERPRINTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "determinism/state_fingerprint.h"
#include "model/kernels/adamw/adamw.h"
#include "model/owned_fingerprint.h"
#include "model/parameters.h"

namespace lockstep {

// Of an entry's name, behind the parameter's.
inline constexpr char kMomentSuffix[] = ".exp_avg";
inline constexpr char kSquareSuffix[] = ".exp_avg_sq";

class UpdateFingerprints {
 public:
  // The owned rows; `runtime` is null where the master is the weight.
  struct Written {
    const float* m;
    const float* v;
    const void* runtime;
  };
  UpdateFingerprints(const Parameter& parameter, const TensorShare& share,
                     const Written& written);

  // For AdamW; this outlives it.
  AdamWBlockDone Watch() {
    return [this](int64_t begin, int64_t end) { Add(begin, end); };
  }
  // Under the names of the entries, of which each object's come with its name.
  void Tell(const std::string& store_entry, const std::string& optimizer_entry,
            KnownFingerprints& known) const;

 private:
  void Add(int64_t begin, int64_t end);

  const OwnedFingerprint owned_;
  const std::array<const void*, 3> data_;  // master, m, v
  const void* const runtime_;
  const size_t runtime_bytes_;  // of an element
  std::mutex mutex_;            // guards what follows
  std::array<Fingerprint, 3> sums_ = {};
  Fingerprint runtime_sum_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_UPDATE_FINGERPRINTS_H_
