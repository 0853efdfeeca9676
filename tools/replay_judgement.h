// What became of a window of steps that was done again.
//
// What it is: the verdict of `replay` and its parts, as text and as JSON. What
// it is not: the steps (replay_window.h). Why so: "it does not recur" is said
// of a machine, so what was compared, and how closely, must be beside it.
//
//   recurs_to_the_bit  every field of every line, fingerprints included
//   recurs_in_value    the losses are the recorded ones within a tolerance;
//                      where bits were not promised (another layout below
//                      layout_invariant, other settings) that is all there is
//   does_not_recur     neither
//
// JSON, fields are only ever added: verdict; steps [{step, recurs, in_value,
// differences [field], loss, loss_bits, recorded_loss, deviation}]; began_at;
// ranks; promised (whether bits were); tolerance; repeatable (null, or whether
// a second replay came out like the first); parted_at (the first step at which
// the two replays differ, 0: none); notes [text].
#ifndef LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_
#define LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "tools/recorded_steps.h"
#include "tools/replay_window.h"

namespace lockstep {

enum class ReplayVerdict : uint8_t {
  kRecursToTheBit,
  kRecursInValue,
  kDoesNotRecur
};
const char* NameOf(ReplayVerdict verdict);

struct JudgedStep {
  int64_t step = 0;
  bool recorded = false;
  bool recurs = false;
  std::vector<std::string> differences = {};
  double loss = 0;
  double recorded_loss = 0;  // NaN where the run has none
  double deviation = 0;      // of the loss, relative
};

struct ReplayJudgement {
  ReplayVerdict verdict = ReplayVerdict::kDoesNotRecur;
  std::vector<JudgedStep> steps = {};
  int64_t began_at = 0;
  int64_t first_difference = 0;  // from began_at on
  int ranks = 1;
  bool promised = true;
  double tolerance = 0;
  std::optional<bool> repeatable = {};
  int64_t parted_at = 0;
  std::vector<std::string> notes = {};
};

// Relative tolerance of a loss: the spacing of the storage type, 2^-8 or
// 2^-11; of fp32 2^-16, since what one rounding changes grows over a window.
double LossTolerance(DType storage);

ReplayJudgement JudgeWindow(const ReplayedWindow& window,
                            const RecordedSteps& recorded, double tolerance);

// The first step whose lines differ between two replays; 0: none.
int64_t WherePart(const ReplayedWindow& a, const ReplayedWindow& b);

std::string ReplayText(const ReplayJudgement& judgement);
std::string ReplayJson(const ReplayJudgement& judgement);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_
