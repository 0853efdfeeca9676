#include "recipes/section.h"

#include <algorithm>
#include <utility>

#include "determinism/check.h"
#include "recipes/recipe_state.h"
#include "recipes/take.h"
#include "recipes/value.h"

namespace lockstep {

// How one key is read. `take` stores a sound value and gives its canonical
// text, or says what is wrong.
struct KeyPlan {
  std::string type;
  std::string default_text;
  std::string help;
  bool trajectory = true;
  bool required = false;
  std::function<Taken<std::string>(const Value&)> take;
};

namespace {

constexpr char kNone[] = "none";
constexpr char kSample[] = "[]";

bool IsSample(const std::string& path) {
  return path.find(kSample) != std::string::npos;
}

// A Taken value's canonical text, after handing the value on.
template <typename T, typename Set, typename Print>
Taken<std::string> Store(const Taken<T>& taken, const Set& set,
                         const Print& print) {
  if (!taken.value) {
    return {std::nullopt, taken.fault};
  }
  set(*taken.value);
  return {print(*taken.value), {}};
}

std::string IntListText(const std::vector<int64_t>& list) {
  std::vector<std::string> items;
  std::transform(list.begin(), list.end(), std::back_inserter(items), IntText);
  return ListText(items);
}

std::string RealListText(const std::vector<double>& list) {
  std::vector<std::string> items;
  std::transform(list.begin(), list.end(), std::back_inserter(items), RealText);
  return ListText(items);
}

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
  const bool refused =
      values.empty() ||
      (value.is(Value::Kind::kString) &&
       std::find(values.begin(), values.end(), value.text) != values.end());
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

void Section::ReadBool(std::string_view key, const std::optional<bool>& initial,
                       const KeyOptions& options,
                       const std::function<void(bool)>& set) {
  Handle(key, {.type = "true or false",
               .default_text = initial ? BoolText(*initial) : kNone,
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .take = [&](const Value& value) {
                 return Store(TakeBool(value), set, BoolText);
               }});
}

void Section::Bool(std::string_view key, bool& value,
                   const KeyOptions& options) {
  ReadBool(key, value, options, [&](bool taken) { value = taken; });
}

void Section::Bool(std::string_view key, std::optional<bool>& value,
                   const KeyOptions& options) {
  ReadBool(key, value, options, [&](bool taken) { value = taken; });
}

void Section::ReadInt(std::string_view key,
                      const std::optional<int64_t>& initial,
                      const IntOptions& options,
                      const std::function<void(int64_t)>& set) {
  Handle(key, {.type = TypeText(options),
               .default_text = initial ? IntText(*initial) : kNone,
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .required = initial && CheckInt(*initial, options),
               .take = [&](const Value& value) {
                 return Store(TakeInt(value, options), set, IntText);
               }});
}

void Section::Int(std::string_view key, int64_t& value,
                  const IntOptions& options) {
  ReadInt(key, value, options, [&](int64_t taken) { value = taken; });
}

void Section::Int(std::string_view key, std::optional<int64_t>& value,
                  const IntOptions& options) {
  ReadInt(key, value, options, [&](int64_t taken) { value = taken; });
}

void Section::ReadReal(std::string_view key,
                       const std::optional<double>& initial,
                       const RealOptions& options,
                       const std::function<void(double)>& set) {
  Handle(key, {.type = TypeText(options),
               .default_text = initial ? RealText(*initial) : kNone,
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .required = initial && CheckReal(*initial, options),
               .take = [&](const Value& value) {
                 return Store(TakeReal(value, options), set, RealText);
               }});
}

void Section::Real(std::string_view key, double& value,
                   const RealOptions& options) {
  ReadReal(key, value, options, [&](double taken) { value = taken; });
}

void Section::Real(std::string_view key, std::optional<double>& value,
                   const RealOptions& options) {
  ReadReal(key, value, options, [&](double taken) { value = taken; });
}

void Section::ReadString(std::string_view key,
                         const std::optional<std::string>& initial,
                         const KeyOptions& options, std::string_view type,
                         const std::function<void(std::string)>& set) {
  Handle(key, {.type = std::string(type),
               .default_text = initial ? QuotedText(*initial) : kNone,
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .take = [&](const Value& value) {
                 return Store(TakeString(value), set, QuotedText);
               }});
}

void Section::String(std::string_view key, std::string& value,
                     const KeyOptions& options) {
  ReadString(key, value, options, "a string",
             [&](std::string taken) { value = std::move(taken); });
}

void Section::String(std::string_view key, std::optional<std::string>& value,
                     const KeyOptions& options) {
  ReadString(key, value, options, "a string",
             [&](std::string taken) { value = std::move(taken); });
}

void Section::Path(std::string_view key, std::string& value,
                   const KeyOptions& options) {
  std::optional<std::string> path = value;
  Path(key, path, options);
  value = *path;
}

void Section::Path(std::string_view key, std::optional<std::string>& value,
                   const KeyOptions& options) {
  ReadString(key, value, options, "a path",
             [&](std::string taken) { value = std::move(taken); });
  const std::string path = PathOf(key);
  if (value && !IsSample(path)) {
    value = state_.ResolvePath(*value, state_.Find(path));
  }
}

void Section::Choice(std::string_view key, std::string& value,
                     const std::vector<std::string>& allowed,
                     const KeyOptions& options) {
  const bool sound =
      std::find(allowed.begin(), allowed.end(), value) != allowed.end();
  LS_CHECK(sound || value.empty())
      << PathOf(key) << ": the default " << value << " is no choice";
  const auto set = [&](const std::string& taken) { value = taken; };
  Handle(key, {.type = ChoiceTypeText(allowed),
               .default_text = QuotedText(value),
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .required = !sound,
               .take = [&](const Value& given) {
                 return Store(TakeChoice(given, allowed), set, QuotedText);
               }});
}

void Section::IntList(std::string_view key, std::vector<int64_t>& value,
                      const IntListOptions& options) {
  const auto set = [&](const std::vector<int64_t>& taken) { value = taken; };
  Handle(key, {.type = ListTypeText(options.min_count, options.max_count,
                                    TypeText(ItemOptions(options))),
               .default_text = IntListText(value),
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .required = CheckCount(value.size(), options.min_count,
                                      options.max_count)
                               .has_value(),
               .take = [&](const Value& given) {
                 return Store(TakeIntList(given, options), set, IntListText);
               }});
}

void Section::RealList(std::string_view key, std::vector<double>& value,
                       const RealListOptions& options) {
  const auto set = [&](const std::vector<double>& taken) { value = taken; };
  Handle(key, {.type = ListTypeText(options.min_count, options.max_count,
                                    TypeText(ItemOptions(options))),
               .default_text = RealListText(value),
               .help = options.help,
               .trajectory = InTrajectory(options.trajectory),
               .required = CheckCount(value.size(), options.min_count,
                                      options.max_count)
                               .has_value(),
               .take = [&](const Value& given) {
                 return Store(TakeRealList(given, options), set, RealListText);
               }});
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
  Section sample(state_, PathOf(key) + kSample, trajectory_);
  describe(sample);
}

}  // namespace lockstep
