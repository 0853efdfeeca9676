// CRC-32C (Castagnoli; RFC 3720, appendix B.4): finds torn and rotten records.
//
// Not a fingerprint and not a hash: 32 bits guard the framing of a record, the
// contents have fingerprint.h and sha256.h. By the processor's instruction
// where there is one (SSE4.2): a trace is read at the speed of its checksums.

#ifndef DETERMINISM_CRC32C_H_
#define DETERMINISM_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace lockstep {

// Of `data`, going on from the CRC of what came before it.
uint32_t Crc32c(std::string_view data, uint32_t before = 0);

// The same by a table, as on any machine.
uint32_t Crc32cByTable(std::string_view data, uint32_t before = 0);

}  // namespace lockstep

#endif  // DETERMINISM_CRC32C_H_
