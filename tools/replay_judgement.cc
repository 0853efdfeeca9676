#include "tools/replay_judgement.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

JudgedStep JudgeStep(const ReplayedStep& step, const RecordedSteps& recorded) {
  JudgedStep judged = {.step = step.report.step,
                       .recorded = step.recorded,
                       .recurs = step.recurs(),
                       .differences = step.differences,
                       .loss = step.report.loss,
                       .recorded_loss = recorded.Loss(step.report.step)};
  judged.deviation = judged.loss == judged.recorded_loss
                         ? 0.0
                         : std::abs(judged.loss - judged.recorded_loss) /
                               std::abs(judged.recorded_loss);
  return judged;
}

bool InValue(const JudgedStep& step, double tolerance) {
  return step.recorded && (step.recurs || step.deviation <= tolerance);
}

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

// Nothing was changed, and yet the bits are others.
std::string Suspicion(const ReplayJudgement& j) {
  if (!j.repeatable.has_value()) return "";
  if (*j.repeatable) {
    return "a second replay, its ranks on other cores where there are enough, "
           "came out like the first: what made the recorded steps differ was "
           "not part of them (a fault of that machine, another program or "
           "environment, or files that were changed since)\n";
  }
  return absl::StrCat("a second replay parted from the first at step ",
                      j.parted_at,
                      ": this machine does not give the same bits twice "
                      "(`lockstep doctor`)\n");
}

std::string StepText(const JudgedStep& step) {
  std::string text =
      absl::StrFormat("step %6d  loss %.9g", step.step, step.loss);
  if (!step.recorded) return text + "  not recorded\n";
  if (step.recurs) return text + "  to the bit\n";
  absl::StrAppendFormat(&text,
                        "  recorded %.9g, off by %.3g: ", step.recorded_loss,
                        step.deviation);
  return absl::StrCat(text, absl::StrJoin(step.differences, " "), "\n");
}

Json Real(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json StepJson(const JudgedStep& step, double tolerance) {
  return {{"step", step.step},
          {"recurs", step.recurs},
          {"in_value", InValue(step, tolerance)},
          {"differences", step.differences},
          {"loss", Real(step.loss)},
          {"loss_bits", BitsOf(step.loss)},
          {"recorded_loss", Real(step.recorded_loss)},
          {"deviation", Real(step.deviation)}};
}

}  // namespace

const char* NameOf(ReplayVerdict verdict) {
  switch (verdict) {
    case ReplayVerdict::kRecursToTheBit:
      return "recurs_to_the_bit";
    case ReplayVerdict::kRecursInValue:
      return "recurs_in_value";
    case ReplayVerdict::kDoesNotRecur:
      return "does_not_recur";
  }
  return "";
}

double LossTolerance(DType storage) {
  if (storage == DType::kF32) return 0x1p-16;
  return storage == DType::kF16 ? 0x1p-11 : 0x1p-8;
}

ReplayJudgement JudgeWindow(const ReplayedWindow& window,
                            const RecordedSteps& recorded, double tolerance) {
  ReplayJudgement j = {.began_at = window.began_at,
                       .first_difference = window.first_difference,
                       .ranks = window.ranks,
                       .tolerance = tolerance,
                       .notes = window.notes};
  bool bits = true, values = true;
  for (const ReplayedStep& step : window.steps) {
    const JudgedStep judged = JudgeStep(step, recorded);
    bits = bits && judged.recurs;
    values = values && InValue(judged, tolerance);
    j.steps.push_back(judged);
  }
  j.verdict = bits     ? ReplayVerdict::kRecursToTheBit
              : values ? ReplayVerdict::kRecursInValue
                       : ReplayVerdict::kDoesNotRecur;
  return j;
}

int64_t WherePart(const ReplayedWindow& a, const ReplayedWindow& b) {
  for (size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    const StepReport &one = a.steps[i].report, &other = b.steps[i].report;
    StepReport timeless = other;
    timeless.step_ms = one.step_ms;
    timeless.tokens_per_s = one.tokens_per_s;
    timeless.mfu = one.mfu;
    if (MetricsLine(timeless) != MetricsLine(one)) return one.step;
  }
  return 0;
}

std::string ReplayText(const ReplayJudgement& j) {
  std::string text = absl::StrCat(Meaning(j), "\n", Suspicion(j));
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
  for (const JudgedStep& step : j.steps) text += StepText(step);
  for (const std::string& note : j.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

std::string ReplayJson(const ReplayJudgement& j) {
  Json steps = Json::array();
  for (const JudgedStep& step : j.steps) {
    steps.push_back(StepJson(step, j.tolerance));
  }
  const Json json = {
      {"verdict", NameOf(j.verdict)},
      {"steps", std::move(steps)},
      {"began_at", j.began_at},
      {"first_difference", j.first_difference},
      {"ranks", j.ranks},
      {"promised", j.promised},
      {"tolerance", j.tolerance},
      {"repeatable", j.repeatable ? Json(*j.repeatable) : Json(nullptr)},
      {"parted_at", j.parted_at},
      {"notes", j.notes}};
  return json.dump() + "\n";
}

}  // namespace lockstep
