// What `explain` answers, as text for a person and as JSON.
//
// What it is: the printing. What it is not: the measuring (explanation.h) or
// the replay (replay_run.h). The text names the sample and document to look at
// in its first lines; the JSON object is documented here, fields are only ever
// added:
//
//   step, verdict (recurs_to_the_bit | does_not_recur | not_recorded |
//   stopped), stopped (the error, "" if none), differences [field],
//   first_difference (the first replayed step that did not recur, 0 if all
//   did), began_at (the checkpoint's step), notes [text], loss, loss_bits,
//   grad_norm, grad_norm_bits, fingerprint {field: hex} (absent with
//   `stopped`); reference {first_step, last_step, samples, loss, grad_norm}:
//   the steps before that were replayed, and the medians of their losses and
//   norms; suspect {sample, source, path, document, offset, loss, loss_z,
//   excess_share, longest_run}: the first of `samples` and its worst document;
//   samples [{global_index, source, path, epoch, sample (in the source),
//   first_token (in the file), labels, loss, loss_bits, loss_z, excess_share,
//   suspicion, longest_run {length, position, token, text}, distinct_share,
//   ngrams [{n, top_share, top_count, top_text, repeated_share}],
//   repeated_share (of 4-grams), repetition_z, non_text_share, as_in_file, text
//   (see VisibleText; shortened unless asked for), documents [{document, offset
//   (in it), position (in the sample), tokens, labels, loss, longest_run}]}],
//   by falling suspicion.
//
// Reals that are not finite are null.
#ifndef LOCKSTEP_TOOLS_EXPLAIN_REPORT_H_
#define LOCKSTEP_TOOLS_EXPLAIN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/explanation.h"
#include "tools/replay_run.h"
#include "tools/sample_report.h"

namespace lockstep {

struct ExplainReport {
  int64_t step = 0;
  int64_t began_at = 0;
  int64_t first_difference = 0;
  std::optional<ReplayedStep> done = {};  // none: the run stopped in this step
  std::string stopped = {};               // and this is why
  std::vector<ReferenceSample> before = {};
  std::vector<double> losses_before = {};  // of the steps before, ascending
  std::vector<double> norms_before = {};
  std::vector<SampleExplanation> samples = {};  // ranked
  std::vector<std::string> notes = {};          // of the replay
  SampleNames names = {};
};

std::string ExplainText(const ExplainReport& report, bool full);
std::string ExplainJson(const ExplainReport& report, bool full);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_EXPLAIN_REPORT_H_
