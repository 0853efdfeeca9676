// The text of `replay`: the verdict, who agrees with whom, step by step.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/replay/judgement.h"

namespace lockstep {
namespace {

// Median deviations above which a sample is worth a line.
constexpr double kSuspicious = 6;

const char* Meaning(const ReplayJudgement& j) {
  switch (j.verdict) {
    case ReplayVerdict::kRecursToTheBit:
      return "the steps recur to the bit: whatever they did, recipe, data and "
             "state did it";
    case ReplayVerdict::kRecursInValue:
      return "the losses recur, within the tolerance; the bits do not";
    case ReplayVerdict::kDoesNotRecur:
      return "the steps do not recur";
  }
  return "";
}

std::string PartingText(const Witness& w) {
  if (!w.parting) return "";
  const RankParting& first = w.parting->first;
  const std::string rank =
      w.parting->across_layouts
          ? std::string("a rank of another layout")
          : absl::StrCat("rank ", absl::StrJoin(w.parting->ranks, ", "));
  return absl::StrCat(w.of_record
                          ? "the run's own trace parts from the replay's"
                          : "traced, two replays part",
                      " on ", rank, ", at ", ToString(first.identity),
                      ", tensor ", first.tensor, "\n");
}

std::string NotTwice(const Witness& w) {
  std::string text = absl::StrCat(
      "a second replay", w.swapped ? ", its ranks on other cores," : "",
      " parted from the first at step ", w.parted_at,
      ": this machine does not give the same bits twice (`lockstep doctor`)\n");
  if (w.like_record != 0) {
    absl::StrAppend(&text, "the ", w.like_record == 1 ? "first" : "second",
                    " is the one that came to what was recorded\n");
  }
  return text;
}

// Whether all that does not recur was made on another layout.
bool OnOtherLayout(const ReplayJudgement& j) {
  return j.other_layout_from > 0 && j.first_difference >= j.other_layout_from;
}

std::string TwiceAlike(const ReplayJudgement& j, const Witness& w) {
  std::string text = absl::StrCat(
      "a second replay", w.swapped ? ", its ranks on other cores," : "",
      " came out like the first: what made the recorded steps differ was not "
      "part of them (");
  if (OnOtherLayout(j)) {
    return absl::StrCat(text,
                        "they were made on another layout: replay them "
                        "from step ",
                        j.other_layout_from,
                        " on before a machine is blamed)\n");
  }
  absl::StrAppend(&text,
                  "a fault of that machine, another program or environment, "
                  "or files that were changed since)\n");
  if (w.layout_agrees.has_value()) {
    absl::StrAppend(&text, "another layout (", w.layout, ") ",
                    *w.layout_agrees ? "came to the replays' bits as well: "
                                       "the record is what is wrong\n"
                                     : "came to other bits again: nothing "
                                       "here agrees (`lockstep doctor`)\n");
  }
  return text;
}

// Nothing was changed, and yet the bits are others.
std::string Suspicion(const ReplayJudgement& j) {
  if (!j.witness.has_value()) return "";
  const Witness& w = *j.witness;
  return (w.repeatable() ? TwiceAlike(j, w) : NotTwice(w)) + PartingText(w);
}

std::string RemedyText(const ReplayJudgement& j) {
  std::string text;
  for (const std::string& set : j.remedy.sets) text += " " + set;
  for (const SkipRange& range : j.remedy.skips) {
    absl::StrAppend(&text, " without samples ", range.first, "-", range.last);
  }
  return text.empty() ? "" : "replayed with" + text + "\n";
}

// The sample that a person would look at, or all of them.
std::string SamplesText(const JudgedStep& step, bool full) {
  if (step.samples.empty()) return "";
  if (full) {
    std::string text = SampleTable(step.samples);
    for (const auto& sample : step.samples) text += SampleDetail(sample, true);
    return text + "\n";
  }
  const SampleExplanation& s = step.samples.front();
  if (s.suspicion < kSuspicious) return "";
  return absl::StrFormat(
      "             sample %d stands out: document %d of source %d, loss %.4f "
      "(z %.1f), longest run %d, %.1f%% of 4-grams repeated, %.1f%% no text\n",
      s.at.global_index, s.documents[s.suspect_part].document, s.at.source,
      s.loss, s.loss_z, s.repetition.longest_run,
      s.repetition.repeated_share() * 100, s.non_text_share * 100);
}

// What and where in a line.
std::string StopText(const JudgedStep& step) {
  std::string why = step.stopped;
  const size_t where = why.find("\n  where: ");
  if (where != std::string::npos) why.replace(where, 10, ", ");
  return absl::StrFormat("step %6d  refused: %s%s\n", step.step, why,
                         step.recurs ? "  as on record"
                         : step.recorded
                             ? "  on record it was not, or for another reason"
                             : "  not recorded");
}

std::string StepText(const JudgedStep& step) {
  if (!step.stopped.empty()) return StopText(step);
  std::string text =
      absl::StrFormat("step %6d  loss %.9g", step.step, step.loss);
  if (!step.recorded) return text + "  not recorded\n";
  if (step.recurs) return text + "  to the bit\n";
  if (std::isnan(step.recorded_loss)) {
    return text + "  on record its numbers refused it\n";
  }
  absl::StrAppendFormat(&text,
                        "  recorded %.9g, off by %.3g: ", step.recorded_loss,
                        step.deviation);
  return absl::StrCat(text, absl::StrJoin(step.differences, " "), "\n");
}

}  // namespace

std::string ReplayText(const ReplayJudgement& j, bool full) {
  std::string text =
      absl::StrCat(Meaning(j), "\n", Suspicion(j), RemedyText(j));
  if (!j.promised) {
    absl::StrAppend(&text,
                    "bits were not promised: the layout or the settings are "
                    "not the run's\n");
  }
  absl::StrAppend(&text, "from ",
                  j.began_at == 0
                      ? std::string("the seed")
                      : absl::StrCat("the checkpoint of step ", j.began_at),
                  ", on ", j.ranks, " rank(s)\n");
  if (j.first_difference != 0 && j.first_difference < j.steps.front().step) {
    absl::StrAppend(&text, "already step ", j.first_difference,
                    ", before the window, did not recur\n");
  }
  for (const JudgedStep& step : j.steps) {
    text += StepText(step) + SamplesText(step, full);
  }
  for (const std::string& note : j.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

}  // namespace lockstep
