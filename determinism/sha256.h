// SHA-256 for files, provenance and field fingerprints.
//
// Where a hash must resist an adversary or stand for a whole file. Not for the
// per-tensor fingerprints (fingerprint.h), which must add up over shards.

#ifndef DETERMINISM_SHA256_H_
#define DETERMINISM_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(const void* data, size_t size_bytes);
  void Update(std::span<const std::byte> data);
  void Update(std::string_view data);

  // The digest of all updates so far; more may follow.
  std::array<uint8_t, 32> Digest() const;

  // The same as 64 lower-case hex digits.
  std::string Hex() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view data);

}  // namespace lockstep

#endif  // DETERMINISM_SHA256_H_
