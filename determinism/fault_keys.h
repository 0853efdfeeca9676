// What may stand in the text of a fault. Inside determinism only.
//
// What it is: the names of kinds and keys, and which keys a kind takes. What it
// is not: their reading (fault_parse.cc). Why so: a new kind is a line of this
// table, from which errors, `doctor` and FAULTS.md list them.

#ifndef DETERMINISM_FAULT_KEYS_H_
#define DETERMINISM_FAULT_KEYS_H_

#include <array>
#include <string>
#include <string_view>

#include "determinism/fault.h"

namespace lockstep::fault_internal {

inline constexpr std::array<std::string_view, 17> kKeys = {
    "kind", "step",     "rank",   "at",     "phase",      "element",
    "bit",  "sample",   "micro",  "when",   "occurrence", "replayed",
    "ms",   "document", "source", "factor", "late"};

struct KindText {
  std::string_view name;
  std::string_view keys;  // see KeysOf in fault.h
  const char* what;
};

#define LS_FAULT_TENSOR "at! phase sample micro occurrence"
#define LS_FAULT_RANK "at phase sample micro occurrence"

// In the order of FaultKind.
inline constexpr std::array<KindText, kFaultKindCount> kKindTexts = {{
    {"flip", LS_FAULT_TENSOR " element! bit! late",
     "flips bit `bit` of element `element` of the operation's first output"},
    {"nan", LS_FAULT_TENSOR " element! late", "makes the element a quiet NaN"},
    {"swap_rows", LS_FAULT_TENSOR " element! late",
     "exchanges the element's row (last dim) with the next one"},
    {"spike", LS_FAULT_TENSOR " element factor late",
     "multiplies the element, or all, by `factor` (1024)"},
    {"stale", LS_FAULT_TENSOR,
     "leaves in the first output what the operation's last call of this launch "
     "left there, or zeros"},
    {"order", LS_FAULT_TENSOR " element",
     "takes a projection's or a norm's sums, or that of the element, from the "
     "far end"},
    {"unwritten", LS_FAULT_TENSOR " element",
     "leaves in the first output, or the element, what fresh memory holds: "
     "zeros, or the pattern of a replay that looks for that"},
    {"scale", LS_FAULT_TENSOR " element factor",
     "multiplies what was loaded, or converted after the load, by `factor` "
     "(2)"},
    {"kill", LS_FAULT_RANK, "SIGKILL to the process"},
    {"sleep", LS_FAULT_RANK " ms!", "waits `ms` milliseconds"},
    {"raise", LS_FAULT_RANK, "an internal error (exit 7)"},
    {"enospc", "at! occurrence", "the file call fails: the disk is full"},
    {"eio", "at! occurrence", "the file call fails: input/output error"},
    {"short_write", "at! occurrence", "half is written, then the call fails"},
    {"lost_write", "at! occurrence",
     "nothing is written or synced, and the call succeeds"},
    {"skip_sample", "step! sample!",
     "reads sample `sample` + 1 in place of `sample`; with when=from, every "
     "later one too: a cursor that slipped"},
    {"document", "step! document! source element",
     "token `element` (0) of document `document` of source `source` (0) is "
     "read as the next id of the vocabulary"},
    {"drop_collective", "at! step!",
     "the ranks do not exchange and go on with what each has"},
    {"rng_slip", "step! sample micro",
     "random numbers are those of another stream"},
}};

#undef LS_FAULT_TENSOR
#undef LS_FAULT_RANK

// The collectives that can be dropped.
inline constexpr std::array<std::string_view, 2> kDroppable = {
    "gradients.reduce_scatter", "weights.all_gather"};

}  // namespace lockstep::fault_internal

#endif  // DETERMINISM_FAULT_KEYS_H_
