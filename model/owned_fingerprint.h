// The fingerprint of what a rank owns of a parameter, piece by piece.
//
// What it is: FingerprintBox over a parameter's boxes, of any range of owned
// elements and of several tensors at once (fingerprint_pieces.h). What it is
// not: another fingerprint. Why so: whoever writes a master, its moments or a
// gradient has each piece in cache once, and then it is cheap (N11).
#ifndef LOCKSTEP_MODEL_OWNED_FINGERPRINT_H_
#define LOCKSTEP_MODEL_OWNED_FINGERPRINT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "determinism/fingerprint.h"
#include "model/parameter_boxes.h"
#include "model/parameters.h"

namespace lockstep {

class OwnedFingerprint {
 public:
  OwnedFingerprint(const Parameter& parameter, const TensorShare& share)
      : runs_(RunsOf(parameter, share)) {}

  // Adds to sums[t] the share of owned elements [begin, end) of the tensor
  // whose owned elements lie at data[t]. Safe to call from several threads,
  // each with sums of its own.
  void Add(std::span<const void* const> data, size_t item_bytes, int64_t begin,
           int64_t end, std::span<Fingerprint> sums) const;

 private:
  std::vector<ParameterRun> runs_;  // ascending, back to back
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_OWNED_FINGERPRINT_H_
