#include "determinism/trace_frame.h"

#include <bit>
#include <cstring>

#include "determinism/check.h"
#include "determinism/crc32c.h"

namespace lockstep::trace_frame {
namespace {

static_assert(std::endian::native == std::endian::little);

std::string_view AsBytes(const uint32_t& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

uint32_t LoadU32(std::string_view bytes) {
  uint32_t value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

uint32_t Checksum(uint32_t length, std::string_view record) {
  return Crc32c(record, Crc32c(AsBytes(length)));
}

}  // namespace

std::string Frame(std::string_view record) {
  LS_CHECK(!record.empty() && record.size() <= kMaxRecordBytes)
      << record.size() << " bytes";
  const auto length = static_cast<uint32_t>(record.size());
  const uint32_t crc = Checksum(length, record);
  std::string frame;
  frame.reserve(kHeadBytes + record.size());
  return frame.append(AsBytes(length)).append(AsBytes(crc)).append(record);
}

bool TakeFrame(std::string_view& rest, std::string_view& record) {
  if (rest.size() < kHeadBytes) return false;
  const uint32_t length = LoadU32(rest);
  if (length == 0 || length > kMaxRecordBytes) return false;
  if (length > rest.size() - kHeadBytes) return false;
  const std::string_view body = rest.substr(kHeadBytes, length);
  if (LoadU32(rest.substr(4)) != Checksum(length, body)) return false;
  record = body;
  rest.remove_prefix(kHeadBytes + length);
  return true;
}

// Most places are ruled out by what stands in for a length, or by the record's
// first byte, before anything is summed.
bool HoldsFrame(std::string_view rest) {
  constexpr char kStepField = 0x08;  // the first field of every record
  std::string_view record;
  for (size_t at = 1; at + kHeadBytes < rest.size(); ++at) {
    std::string_view from = rest.substr(at);
    if (from[kHeadBytes] == kStepField && TakeFrame(from, record)) return true;
  }
  return false;
}

}  // namespace lockstep::trace_frame
