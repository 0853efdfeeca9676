// What may stand in the text of a fault. Inside determinism only.
//
// What it is: the names of kinds and keys, and which keys a kind takes. What it
// is not: their reading (fault_parse.cc). Why so: a new kind is a line in each
// of these tables, and an error lists them.

#ifndef DETERMINISM_FAULT_KEYS_H_
#define DETERMINISM_FAULT_KEYS_H_

#include <array>
#include <string>
#include <string_view>

#include "determinism/fault.h"

namespace lockstep::fault_internal {

inline constexpr std::array<std::string_view, 13> kKinds = {
    "flip",       "nan",         "swap_rows", "spike", "kill",
    "sleep",      "raise",       "enospc",    "eio",   "short_write",
    "lost_write", "skip_sample", "document"};
inline constexpr std::array<std::string_view, 5> kReservedKinds = {
    "stale", "order", "scale", "drop_collective", "rng_slip"};
inline constexpr std::array<std::string_view, 16> kKeys = {
    "kind", "step",     "rank",   "at",    "phase",      "element",
    "bit",  "sample",   "micro",  "when",  "occurrence", "replayed",
    "ms",   "document", "source", "factor"};

// Keys of a kind beside kind, step, rank, when and replayed; `!` marks those
// that must stand.
inline constexpr std::string_view kTensorCommon =
    "phase sample micro occurrence ";
inline constexpr std::string_view kRankCommon =
    "at phase sample micro occurrence ";

inline std::string KeysOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kFlip:
      return std::string(kTensorCommon) + "at! element! bit!";
    case FaultKind::kNan:
    case FaultKind::kSwapRows:
      return std::string(kTensorCommon) + "at! element!";
    case FaultKind::kSpike:
      return std::string(kTensorCommon) + "at! element factor";
    case FaultKind::kKill:
    case FaultKind::kRaise:
      return std::string(kRankCommon);
    case FaultKind::kSleep:
      return std::string(kRankCommon) + "ms!";
    case FaultKind::kEnospc:
    case FaultKind::kEio:
    case FaultKind::kShortWrite:
    case FaultKind::kLostWrite:
      return "at! occurrence";
    case FaultKind::kSkipSample:
      return "step! sample!";
    case FaultKind::kDocument:
      return "step! document! source element";
  }
  return "";
}

}  // namespace lockstep::fault_internal

#endif  // DETERMINISM_FAULT_KEYS_H_
