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
// differences [field], stopped (null, or why its numbers refused the step, the
// last of the window then; "stop" is the field of that), loss, loss_bits,
// recorded_loss, deviation, grad_norm, samples [as explain_report.h has them,
// the most suspicious first]}]; began_at; ranks; promised (whether bits were);
// tolerance; remedy {sets, skipped ["A-B"]}; repeatable (null, or whether a
// second replay came out like the first); parted_at (the first step at which
// the two replays differ, 0: none); like_record (the replay that came to the
// record there: 1, 2, 0: neither); parting (null, or as `trace diff --json` has
// it: where two replays part, or, with of_record, where the run's own trace
// parts from a replay's); of_record; layout, layout_agrees (another layout as
// witness; null: not asked); notes [text].
#ifndef LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_
#define LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "tools/explanation.h"
#include "tools/recorded_steps.h"
#include "tools/replay/remedy.h"
#include "tools/replay/witness.h"
#include "tools/replay_window.h"
#include "tools/sample_report.h"

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
  std::string stopped = {};  // why its numbers refused it; empty: done
  double loss = 0;
  double recorded_loss = 0;  // NaN where the run has none
  double deviation = 0;      // of the loss, relative
  double grad_norm = 0;
  std::vector<SampleExplanation> samples = {};  // the most suspicious first
};

struct ReplayJudgement {
  ReplayVerdict verdict = ReplayVerdict::kDoesNotRecur;
  std::vector<JudgedStep> steps = {};
  int64_t began_at = 0;
  int64_t first_difference = 0;  // from began_at on
  // The first step of the window that the run made on another layout, which is
  // not the window's; 0: none.
  int64_t other_layout_from = 0;
  int ranks = 1;
  bool promised = true;
  double tolerance = 0;
  Remedy remedy = {};
  std::optional<Witness> witness = {};  // none: it recurs, or need not
  std::vector<std::string> notes = {};
};

// Relative tolerance of a loss: the spacing of the storage type, 2^-8 or
// 2^-11; of fp32 2^-16, since what one rounding changes grows over a window.
double LossTolerance(DType storage);

ReplayJudgement JudgeWindow(const ReplayedWindow& window,
                            const RecordedSteps& recorded, double tolerance);

// `full`: of every sample its documents and text; else the one that stands out.
std::string ReplayText(const ReplayJudgement& judgement, bool full);
std::string ReplayJson(const ReplayJudgement& judgement,
                       const SampleNames& names, bool full);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_JUDGEMENT_H_
