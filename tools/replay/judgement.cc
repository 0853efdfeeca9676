#include "tools/replay/judgement.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

JudgedStep JudgeStep(const ReplayedStep& step, const RecordedSteps& recorded) {
  JudgedStep judged = {.step = step.report.step,
                       .recorded = step.recorded,
                       .recurs = step.recurs(),
                       .differences = step.differences,
                       .stopped = step.stopped,
                       .loss = step.report.loss,
                       .recorded_loss = recorded.Loss(step.report.step),
                       .grad_norm = step.report.grad_norm};
  judged.deviation = judged.loss == judged.recorded_loss
                         ? 0.0
                         : std::abs(judged.loss - judged.recorded_loss) /
                               std::abs(judged.recorded_loss);
  return judged;
}

bool InValue(const JudgedStep& step, double tolerance) {
  return step.recorded &&
         (step.recurs || (step.stopped.empty() && step.deviation <= tolerance));
}

Json Real(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json StepJson(const JudgedStep& step, double tolerance,
              const SampleNames& names, bool full) {
  Json samples = Json::array();
  for (const SampleExplanation& sample : step.samples) {
    samples.push_back(SampleJson(names, sample, full));
  }
  return {{"step", step.step},
          {"recurs", step.recurs},
          {"in_value", InValue(step, tolerance)},
          {"differences", step.differences},
          {"stopped", step.stopped.empty() ? Json() : Json(step.stopped)},
          {"loss", Real(step.loss)},
          {"loss_bits", BitsOf(step.loss)},
          {"recorded_loss", Real(step.recorded_loss)},
          {"deviation", Real(step.deviation)},
          {"grad_norm", Real(step.grad_norm)},
          {"samples", std::move(samples)}};
}

Json RemedyJson(const Remedy& remedy) {
  Json skipped = Json::array();
  for (const SkipRange& range : remedy.skips) {
    skipped.push_back(absl::StrCat(range.first, "-", range.last));
  }
  return {{"sets", remedy.sets}, {"skipped", std::move(skipped)}};
}

void AddWitness(const std::optional<Witness>& witness, Json& json) {
  const Witness w = witness.value_or(Witness());
  json["repeatable"] = witness ? Json(w.repeatable()) : Json(nullptr);
  json["parted_at"] = w.parted_at;
  json["like_record"] = w.like_record;
  json["parting"] =
      w.parting ? Json::parse(TraceDifferenceJson(*w.parting)) : Json(nullptr);
  json["of_record"] = w.of_record;
  json["layout"] = w.layout;
  json["layout_agrees"] =
      w.layout_agrees ? Json(*w.layout_agrees) : Json(nullptr);
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
                       .other_layout_from = window.other_layout_from,
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

std::string ReplayJson(const ReplayJudgement& j, const SampleNames& names,
                       bool full) {
  Json steps = Json::array();
  for (const JudgedStep& step : j.steps) {
    steps.push_back(StepJson(step, j.tolerance, names, full));
  }
  Json json = {{"verdict", NameOf(j.verdict)},
               {"steps", std::move(steps)},
               {"began_at", j.began_at},
               {"first_difference", j.first_difference},
               {"ranks", j.ranks},
               {"other_layout_from", j.other_layout_from},
               {"promised", j.promised},
               {"tolerance", j.tolerance},
               {"remedy", RemedyJson(j.remedy)}};
  AddWitness(j.witness, json);
  json["notes"] = j.notes;
  return json.dump() + "\n";
}

}  // namespace lockstep
