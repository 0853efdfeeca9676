// Fingerprints of tensors that add up over shards (clause N11).
//
// For traces, verification and checkpoints: two lanes of the sum over i of
// w_i * k_i modulo 2^64, where w_i are the little-endian 32-bit words of the
// row-major unsharded, unpadded tensor and
// k_i = fmix32(lo32(i) + c_lane + fmix32(hi32(i))) | 1. Linear in the bytes, so
// parts of a tensor can be fingerprinted where they lie, in any order and on
// any device, and added. Not a hash against an adversary: files have sha256.h.

#ifndef DETERMINISM_FINGERPRINT_H_
#define DETERMINISM_FINGERPRINT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "determinism/dtype.h"

namespace lockstep {

struct Fingerprint {
  uint64_t lane[2] = {0, 0};

  Fingerprint& operator+=(const Fingerprint& other) {
    lane[0] += other.lane[0];
    lane[1] += other.lane[1];
    return *this;
  }
  bool operator==(const Fingerprint&) const = default;

  // 32 lower-case hex digits, lane 0 first.
  std::string Hex() const;
};

// The share of `size_bytes` bytes that lie at `byte_offset` of the unsharded
// tensor. Bytes of a word outside the range count as zero, so cuts may fall
// anywhere.
Fingerprint FingerprintBytes(const void* data, size_t size_bytes,
                             uint64_t byte_offset = 0);

// The share of a box of the unsharded tensor: `box_data` holds the box alone,
// contiguous and row-major. The three spans have the tensor's rank; the box
// must lie inside. A scalar has rank 0.
Fingerprint FingerprintBox(const void* box_data, DType dtype,
                           std::span<const int64_t> global_shape,
                           std::span<const int64_t> box_start,
                           std::span<const int64_t> box_shape);

// One record of a field.
struct TensorFingerprint {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;  // of the unsharded tensor
  Fingerprint value;
};

// 32 hex digits: the first 128 bits of SHA-256 over the records sorted by name,
// each "<bytes of name>:<name> <dtype> [<d0>,<d1>] <count> <lanes>\n". Names
// must be distinct.
std::string FieldFingerprint(std::vector<TensorFingerprint> tensors);

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_H_
