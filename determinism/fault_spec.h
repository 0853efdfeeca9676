// What one fault on purpose is: its kind, and where and when it is met.
//
// What it is: `--fault`'s text, read. What it is not: the doing of it
// (fault.h, which also says what the keys mean).

#ifndef DETERMINISM_FAULT_SPEC_H_
#define DETERMINISM_FAULT_SPEC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "determinism/operation.h"

namespace lockstep {

enum class FaultKind : uint8_t {
  // Tensors: the first output of the operation.
  kFlip,       // bit `bit` of element `element`
  kNan,        // element `element` becomes a quiet NaN
  kSwapRows,   // the row (last dim) of `element` and the next one, cyclically
  kSpike,      // element `element`, or all, times `factor` (default 1024)
  kStale,      // what the operation left when it was last called here, or zeros
  kOrder,      // of a product or a norm: its sums, or that of `element`, from
               // the far end
  kUnwritten,  // element `element`, or all, as fresh memory is
  kScale,      // of a load or a conversion: as kSpike (default 2)
  // Ranks, at a point (default `step.begin`) or an operation.
  kKill,   // SIGKILL to the process
  kSleep,  // for `ms` milliseconds
  kRaise,  // an Internal error
  // Files, at a point.
  kEnospc,
  kEio,
  kShortWrite,  // half of the data is written, then the call fails
  kLostWrite,   // nothing is written, and the call says OK
  // Data.
  kSkipSample,  // reads sample `sample` + 1 in place of `sample`; with
                // when=from, every later sample is one too far as well
  kDocument,    // token `element` (default 0) of document `document` of source
                // `source` (default 0) is read as the next id of the vocabulary
  // The step.
  kDropCollective,  // the ranks do not exchange: each goes on with its own
  kRngSlip,         // the random numbers are those of another stream
};
inline constexpr int kFaultKindCount = 19;

const char* NameOf(FaultKind kind);
// For a person, in one line; and its keys beside kind, step, rank, when and
// replayed, with ! behind those that must stand. The one source of every list.
const char* WhatItDoes(FaultKind kind);
std::string KeysOf(FaultKind kind);

struct FaultSpec {
  enum class When : uint8_t { kOnce, kFrom, kProbability };
  static constexpr int64_t kEveryOccurrence = 0;

  FaultKind kind = FaultKind::kFlip;
  std::optional<int64_t> step;
  std::optional<int> rank;  // absent: every rank
  std::string at;           // empty: `step.begin`
  std::optional<Phase> phase;
  std::optional<int64_t> element;  // in the tensor as this rank holds it
  std::optional<int> bit;          // 0 is the least significant
  std::optional<uint64_t> sample;  // global index; matches its micro-batch
  std::optional<int64_t> micro;
  std::optional<int64_t> document;  // of its source, from 0
  int64_t source = 0;
  int64_t occurrence = 1;
  When when = When::kOnce;
  double probability = 1;
  bool replayed = true;
  bool late = false;
  int64_t sleep_ms = 0;
  std::optional<double> factor;
  std::string text;  // as given
  // Not in the text; a replay of several launches sets them. The steps of the
  // launch that was given this, and its place among that launch's faults, by
  // which `when=p` draws (absent: among these).
  int64_t first_step = 0;
  int64_t last_step = std::numeric_limits<int64_t>::max();
  std::optional<uint64_t> index;

  bool Covers(int64_t step_asked, bool replayed_now) const {
    return (replayed || !replayed_now) && step_asked >= first_step &&
           step_asked <= last_step;
  }
};

// InputError names the key or value, and the nearest valid one.
absl::StatusOr<FaultSpec> ParseFault(std::string_view text);

}  // namespace lockstep

#endif  // DETERMINISM_FAULT_SPEC_H_
