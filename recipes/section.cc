#include "recipes/section.h"

#include <algorithm>
#include <utility>

#include "recipes/key_path.h"
#include "recipes/key_plan.h"
#include "recipes/recipe_state.h"
#include "recipes/take.h"
#include "recipes/value.h"

namespace lockstep {

namespace {

bool IsTableArray(const Value& value) {
  return value.is(Value::Kind::kList) &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const Value& v) { return v.is(Value::Kind::kTable); });
}

// Why a reservation refuses `value`, or "".
std::string Refusal(const Reservation* reservation, const Value& value) {
  if (reservation == nullptr) {
    return "";
  }
  const auto& values = reservation->values;
  const std::string text =
      value.is(Value::Kind::kString) ? value.text : CanonicalText(value);
  const bool refused = values.empty() || std::find(values.begin(), values.end(),
                                                   text) != values.end();
  return refused ? reservation->why : "";
}

std::string ReservedText(const Reservation* reservation) {
  std::string text;
  if (reservation != nullptr) {
    for (const std::string& value : reservation->values) {
      text += (text.empty() ? " (reserved: " : ", ") + QuotedText(value);
    }
  }
  return text.empty() ? "" : text + ")";
}

}  // namespace

Section::Section(RecipeState& state, std::string path, bool trajectory)
    : state_(state), path_(std::move(path)), trajectory_(trajectory) {
  state_.OpenSection(path_);
}

std::string Section::PathOf(std::string_view key) const {
  return JoinKey(path_, key);
}

void Section::Handle(std::string_view key, const KeyPlan& plan) {
  const std::string path = PathOf(key);
  const Reservation* reservation = state_.ReservationOf(path);
  state_.Declare({path_, std::string(key),
                  plan.type + ReservedText(reservation),
                  plan.required ? "required" : plan.default_text, plan.help,
                  plan.trajectory});
  if (IsSample(path)) {
    return;
  }
  state_.MarkRead(path);
  RecipeEntry entry{path_, std::string(key), plan.default_text, "default",
                    plan.trajectory};
  const Value* given = state_.Find(path);
  if (given == nullptr) {
    state_.SetEntry(entry);
    if (plan.required) {
      state_.AddProblem(path, "is required: " + plan.type, "");
    }
    return;
  }
  const Taken<std::string> taken = plan.take(*given);
  if (const std::string why = Refusal(reservation, *given); !why.empty()) {
    state_.AddProblem(path, why, taken.fault.nearest);
  } else if (!taken.value) {
    const bool lost = taken.fault.nearest.empty() && !plan.required;
    state_.AddProblem(
        path,
        taken.fault.message + (lost ? "; default: " + plan.default_text : ""),
        taken.fault.nearest);
  } else {
    entry.value = *taken.value;
    entry.source = given->origin.Source();
  }
  state_.SetEntry(entry);
}

void Section::Reserved(std::string_view key,
                       const std::vector<std::string>& values,
                       std::string_view why) {
  const std::string path = PathOf(key);
  state_.Reserve(path, {values, std::string(why)});
  if (values.empty() && state_.Find(path) != nullptr) {
    state_.MarkRead(path);
    state_.AddProblem(path, std::string(why) + "; leave the key out", "");
  }
}

void Section::Require(bool holds, std::string_view key,
                      std::string_view message, std::string_view nearest) {
  const std::string path = PathOf(key);
  if (!holds && !IsSample(path) && !state_.IsWrong(path)) {
    state_.AddProblem(path, message, nearest);
  }
}

bool Section::Given(std::string_view key) const {
  const std::string path = PathOf(key);
  return !IsSample(path) && state_.Find(path) != nullptr;
}

int64_t Section::EachCount(std::string_view key, const KeyOptions& options) {
  const std::string path = PathOf(key);
  state_.Declare({path_, std::string(key), "tables [[" + path + "]]", "[]",
                  options.help, InTrajectory(options.trajectory)});
  if (IsSample(path)) {
    return -1;
  }
  state_.MarkRead(path);
  const Value* given = state_.Find(path);
  if (given == nullptr) {
    return -1;
  }
  if (!IsTableArray(*given)) {
    state_.AddProblem(path,
                      "expected tables [[" + path + "]], got " +
                          std::string(NameOf(given->kind)),
                      "");
    return -1;
  }
  return static_cast<int64_t>(given->items.size());
}

void Section::EachEntry(std::string_view key, size_t index,
                        const Describe& describe) {
  Section entry(state_, PathOf(key) + "." + std::to_string(index), trajectory_);
  describe(entry);
}

void Section::EachSample(std::string_view key, const Describe& describe) {
  Section sample(state_, PathOf(key) + std::string(kSample), trajectory_);
  describe(sample);
}

}  // namespace lockstep
