// The text of `explain`: what to look at first, then a table, then the texts.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/first_line.h"
#include "tools/explain_report.h"
#include "tools/metrics.h"
#include "tools/sample_report.h"

namespace lockstep {
namespace {

constexpr size_t kSamplesInFull = 3;  // with documents and text

std::string StepLine(const ExplainReport& report) {
  std::string text = absl::StrCat("step ", report.step);
  if (report.done) {
    const StepReport& step = report.done->report;
    absl::StrAppendFormat(&text, ": loss %.4f, gradient norm %.4g", step.loss,
                          step.grad_norm);
    if (!report.losses_before.empty()) {
      absl::StrAppendFormat(
          &text, "; medians of the %d steps before: %.4f and %.4g",
          report.losses_before.size(), Median(report.losses_before),
          Median(report.norms_before));
    }
  } else {
    text += ": the run stopped here: " + FirstLine(report.stopped);
  }
  return text + "\n";
}

std::string VerdictLine(const ExplainReport& report) {
  std::string text = absl::StrCat("  replayed from step ", report.began_at);
  if (!report.done) return text + ": it stops again\n";
  if (!report.done->recorded) return text + ", of which there is no record\n";
  if (report.done->recurs()) {
    return absl::StrCat(text, ": recurs to the bit (loss ",
                        BitsOf(report.done->report.loss), ")\n");
  }
  absl::StrAppend(&text, ": DOES NOT RECUR; what follows is another step's:");
  for (const std::string& field : report.done->differences) {
    absl::StrAppend(&text, " ", field);
  }
  return absl::StrCat(text, "; the first that differs is step ",
                      report.first_difference, "\n");
}

std::string RunText(const ExplainReport& report,
                    const SampleExplanation& sample) {
  const Repetition& r = sample.repetition;
  return absl::StrFormat("'%s' %d times in a row",
                         VisibleText(report.names.decode({&r.run_token, 1}), 8),
                         r.longest_run);
}

std::string SuspectLines(const ExplainReport& report) {
  const SampleExplanation& s = report.samples.front();
  const DocumentPart& part = s.documents[s.suspect_part];
  return absl::StrFormat(
      "look at document %d of source %d (%s), in sample %d\n"
      "  loss of that document %.4f nats, of the sample %.4f: z %.1f among its "
      "like, %.0f%% of what this step is above usual\n"
      "  repetition: %s, %.1f%% distinct tokens, %.1f%% of 4-grams repeated (z "
      "%.1f); %.1f%% is no text\n",
      part.document, s.at.source,
      report.names.sources[static_cast<size_t>(s.at.source)], s.at.global_index,
      part.loss, s.loss, s.loss_z, s.excess_share * 100, RunText(report, s),
      s.repetition.distinct_share() * 100, s.repetition.repeated_share() * 100,
      s.repetition_z, s.non_text_share * 100);
}

}  // namespace

std::string ExplainText(const ExplainReport& report, bool full) {
  std::string text =
      absl::StrCat(StepLine(report), VerdictLine(report), SuspectLines(report),
                   "\n", SampleTable(report.samples));
  const size_t most = full ? report.samples.size() : kSamplesInFull;
  for (size_t i = 0; i < std::min(most, report.samples.size()); ++i) {
    text += SampleDetail(report.samples[i], full);
  }
  return text;
}

}  // namespace lockstep
