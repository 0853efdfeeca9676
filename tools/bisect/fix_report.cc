// Text and JSON of a fix that was checked.
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
    absl::StrAppendFormat(
        &text, "a step takes %.3g ms, %.3g ms before: %+.1f %% (medians)\n",
        check.new_step_ms, check.old_step_ms, 100 * *cost);
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
      {"old_step_ms", check.old_step_ms},
      {"new_step_ms", check.new_step_ms},
      {"cost", cost ? Json(*cost) : Json(nullptr)},
      {"notes", check.notes}}
      .dump();
}

}  // namespace lockstep
