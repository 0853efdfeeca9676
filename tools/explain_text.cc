// The text of `explain`: what to look at first, then a table, then the texts.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/explain_report.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

constexpr size_t kSamplesInFull = 3;    // with documents and text
constexpr size_t kDocumentsShown = 12;  // of a sample
constexpr int64_t kTextShown = 160;     // characters

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
    text += ": the run stopped here: " +
            report.stopped.substr(0, report.stopped.find('\n'));
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
                         VisibleText(report.decode({&r.run_token, 1}), 8),
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
      report.sources[static_cast<size_t>(s.at.source)], s.at.global_index,
      part.loss, s.loss, s.loss_z, s.excess_share * 100, RunText(report, s),
      s.repetition.distinct_share() * 100, s.repetition.repeated_share() * 100,
      s.repetition_z, s.non_text_share * 100);
}

std::string Table(const ExplainReport& report) {
  std::string text =
      "\n      sample source epoch    number     loss       z  excess  run "
      "distinct repeated  no text  documents\n";
  for (const SampleExplanation& s : report.samples) {
    absl::StrAppendFormat(
        &text,
        "%12d %6d %5d %9d %8.4f %7.1f %6.1f%% %4d %7.1f%% %7.1f%% %7.1f%%  %d",
        s.at.global_index, s.at.source, s.at.epoch, s.at.sample, s.loss,
        s.loss_z, s.excess_share * 100, s.repetition.longest_run,
        s.repetition.distinct_share() * 100,
        s.repetition.repeated_share() * 100, s.non_text_share * 100,
        s.documents.front().document);
    if (s.documents.size() > 1) {
      absl::StrAppendFormat(&text, " to %d", s.documents.back().document);
    }
    text += s.as_in_file ? "\n" : "  (NOT the tokens of the file)\n";
  }
  return text;
}

std::string Detail(const SampleExplanation& s, bool full) {
  std::string text = absl::StrFormat(
      "\nsample %d: suspicion %.1f, tokens from %d of source %d\n",
      s.at.global_index, s.suspicion, s.at.first_token, s.at.source);
  const size_t most = full ? s.documents.size() : kDocumentsShown;
  for (size_t i = 0; i < std::min(most, s.documents.size()); ++i) {
    const DocumentPart& part = s.documents[i];
    absl::StrAppendFormat(
        &text,
        "  document %d from its token %d: %d tokens at %d, loss %.4f, longest "
        "run %d\n",
        part.document, part.offset, part.tokens, part.position, part.loss,
        part.longest_run);
  }
  if (most < s.documents.size()) {
    absl::StrAppend(&text, "  and ", s.documents.size() - most,
                    " more documents (--full)\n");
  }
  return absl::StrCat(text, "  ", VisibleText(s.text, full ? 0 : kTextShown),
                      "\n");
}

}  // namespace

std::string ExplainText(const ExplainReport& report, bool full) {
  std::string text = absl::StrCat(StepLine(report), VerdictLine(report),
                                  SuspectLines(report), Table(report));
  const size_t most = full ? report.samples.size() : kSamplesInFull;
  for (size_t i = 0; i < std::min(most, report.samples.size()); ++i) {
    text += Detail(report.samples[i], full);
  }
  return text;
}

}  // namespace lockstep
