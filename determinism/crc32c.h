// CRC-32C (Castagnoli; RFC 3720, appendix B.4): finds torn and rotten records.
//
// Not a fingerprint and not a hash: 32 bits guard the framing of a record, the
// contents have fingerprint.h and sha256.h.

#ifndef DETERMINISM_CRC32C_H_
#define DETERMINISM_CRC32C_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep {
namespace crc32c_internal {

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82f63b78u : 0u);
    }
    table[byte] = crc;
  }
  return table;
}
inline constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace crc32c_internal

// Of `data`, going on from the CRC of what came before it.
inline uint32_t Crc32c(std::string_view data, uint32_t before = 0) {
  uint32_t crc = ~before;
  for (const char c : data) {
    const auto byte = static_cast<unsigned char>(c);
    crc = (crc >> 8) ^ crc32c_internal::kTable[(crc ^ byte) & 0xffu];
  }
  return ~crc;
}

}  // namespace lockstep

#endif  // DETERMINISM_CRC32C_H_
