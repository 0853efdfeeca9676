// The `data` field of a step's fingerprint (N11): token ids and masks keyed by
// (global sample index, position).
//
// Each sample's words enter at the offset they have in the run's whole data,
// rows of T+1 int32 ids and rows of T uint8 masks, so the sums of any sharding
// of a step's samples over ranks and micro-batches, in any order, are one
// value.

#ifndef DATA_DATA_FINGERPRINT_H_
#define DATA_DATA_FINGERPRINT_H_

#include <cstdint>
#include <span>
#include <string>

#include "determinism/fingerprint.h"

namespace lockstep {

struct DataFingerprint {
  Fingerprint tokens;
  Fingerprint mask;
  int64_t samples = 0;

  DataFingerprint& operator+=(const DataFingerprint& other);
  friend bool operator==(const DataFingerprint&,
                         const DataFingerprint&) = default;
};

// tokens: T+1 ids, mask: T.
DataFingerprint FingerprintSample(uint64_t global_index,
                                  std::span<const int32_t> tokens,
                                  std::span<const uint8_t> mask);

// 32 hex digits for the whole step, from the sum over its samples.
std::string StepDataFingerprint(const DataFingerprint& sum, int64_t sequence);

}  // namespace lockstep

#endif  // DATA_DATA_FINGERPRINT_H_
