// The framing of trace files (TRACE_FORMAT.md), for reader and writer.

#ifndef DETERMINISM_TRACE_FRAME_H_
#define DETERMINISM_TRACE_FRAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::trace_frame {

inline constexpr std::string_view kMagic("LSTRACE\x01", 8);
inline constexpr uint32_t kSchema = 2;
inline constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 28;
inline constexpr uint64_t kHeadBytes = 8;

// `record` with length and checksum before it.
std::string Frame(std::string_view record);

// Takes the first frame off `rest` into `record`; false and nothing taken when
// there is none that is whole and sound.
bool TakeFrame(std::string_view& rest, std::string_view& record);

// Whether a sound frame lies anywhere behind the start of `rest`, which begins
// with none: what a killed writer leaves has nothing behind it.
bool HoldsFrame(std::string_view rest);

}  // namespace lockstep::trace_frame

#endif  // DETERMINISM_TRACE_FRAME_H_
