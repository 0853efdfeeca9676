#include "determinism/crc32c.h"

#include <array>
#include <cstring>

namespace lockstep {
namespace {

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
constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ByInstruction(std::string_view data,
                                                         uint32_t before) {
  uint64_t crc = ~before;
  const char* at = data.data();
  const char* const end = at + data.size();
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto narrow = static_cast<uint32_t>(crc);
  for (; at != end; ++at) {
    narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*at));
  }
  return ~narrow;
}

bool HasInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view data, uint32_t before) {
#if defined(__x86_64__)
  if (HasInstruction()) return ByInstruction(data, before);
#endif
  return Crc32cByTable(data, before);
}

uint32_t Crc32cByTable(std::string_view data, uint32_t before) {
  uint32_t crc = ~before;
  for (const char c : data) {
    const auto byte = static_cast<unsigned char>(c);
    crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xffu];
  }
  return ~crc;
}

}  // namespace lockstep
