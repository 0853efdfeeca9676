#include "determinism/sha256.h"

#include <openssl/evp.h>

#include "determinism/check.h"

namespace lockstep {

struct Sha256::Context {
  EVP_MD_CTX* evp = nullptr;
};

// OpenSSL fails here only out of memory or without its own algorithms.
Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->evp = EVP_MD_CTX_new();
  LS_CHECK(context_->evp != nullptr) << "no memory for a SHA-256 context";
  LS_CHECK_EQ(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr), 1);
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_->evp); }

void Sha256::Update(const void* data, size_t size_bytes) {
  LS_CHECK_EQ(EVP_DigestUpdate(context_->evp, data, size_bytes), 1);
}

void Sha256::Update(std::span<const std::byte> data) {
  Update(data.data(), data.size());
}

void Sha256::Update(std::string_view data) { Update(data.data(), data.size()); }

std::array<uint8_t, 32> Sha256::Digest() const {
  // A copy is finished, so that this object can go on.
  EVP_MD_CTX* copy = EVP_MD_CTX_new();
  LS_CHECK(copy != nullptr) << "no memory for a SHA-256 context";
  LS_CHECK_EQ(EVP_MD_CTX_copy_ex(copy, context_->evp), 1);
  std::array<uint8_t, 32> digest;
  unsigned size_bytes = 0;
  LS_CHECK_EQ(EVP_DigestFinal_ex(copy, digest.data(), &size_bytes), 1);
  LS_CHECK_EQ(size_bytes, digest.size());
  EVP_MD_CTX_free(copy);
  return digest;
}

std::string Sha256::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : Digest()) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view data) {
  Sha256 hash;
  hash.Update(data);
  return hash.Hex();
}

}  // namespace lockstep
