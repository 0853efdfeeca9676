// Text and JSON of a fix that was checked.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/bisect/fix_check.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

const char* Sentence(const FixCheck& check) {
  if (check.verdict == "fixed") {
    return "the new pair is equal, and does the operation still";
  }
  if (check.verdict == "routed_around") {
    return "the new pair is equal, and does not do the operation any more: it "
           "goes round it";
  }
  if (check.verdict == "equal") {
    return "the new pair is equal; no operation is known that it could do "
           "still or go round";
  }
  if (check.verdict == "not_fixed") return "the new pair parts too";
  if (check.verdict == "not_enough") {
    return "the new pair has not come to the step where the old one parts";
  }
  return "the old pair does not part: there is nothing to fix";
}

std::string TimesText(const StepTimes& times) {
  return absl::StrFormat("%.3g ms (median of %d steps, %.3g to %.3g)",
                         times.median_ms, times.steps, times.least_ms,
                         times.most_ms);
}

Json RangeOf(const StepTimes& times) { return {times.least_ms, times.most_ms}; }

}  // namespace

std::string FixText(const FixCheck& check) {
  std::string text = absl::StrCat("fix: ", check.verdict, "\n", Sentence(check),
                                  "\n", check.new_steps, " steps compared",
                                  check.new_step == 0
                                      ? ""
                                      : absl::StrCat(", the first that differs "
                                                     "is ",
                                                     check.new_step),
                                  "\n");
  if (const auto cost = check.cost()) {
    absl::StrAppend(&text, "a step takes ", TimesText(check.new_times),
                    ", before ", TimesText(check.old_times),
                    absl::StrFormat(": %+.1f %%\n", 100 * *cost));
    if (!check.cost_shown()) {
      text +=
          "the ranges touch: whatever else the machine did may be all of "
          "that\n";
    }
  }
  for (const std::string& note : check.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

std::string FixJson(const FixCheck& check) {
  const auto cost = check.cost();
  return Json{
      {"verdict", check.verdict},
      {"good", check.good()},
      {"new_step", check.new_step == 0 ? Json(nullptr) : Json(check.new_step)},
      {"new_steps", check.new_steps},
      {"executed", check.executed ? Json(*check.executed) : Json(nullptr)},
      {"same_program", check.same_program},
      {"old_step_ms", check.old_times.median_ms},
      {"new_step_ms", check.new_times.median_ms},
      {"old_step_ms_range", RangeOf(check.old_times)},
      {"new_step_ms_range", RangeOf(check.new_times)},
      {"steps_timed", std::min(check.old_times.steps, check.new_times.steps)},
      {"cost", cost ? Json(*cost) : Json(nullptr)},
      {"cost_shown", check.cost_shown()},
      {"notes", check.notes}}
      .dump();
}

}  // namespace lockstep
