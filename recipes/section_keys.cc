// Section's typed methods: each says how its type is taken, printed and
// checked.

#include <algorithm>
#include <iterator>
#include <utility>

#include "determinism/check.h"
#include "recipes/key_path.h"
#include "recipes/key_plan.h"
#include "recipes/recipe_state.h"
#include "recipes/section.h"
#include "recipes/take.h"
#include "recipes/value.h"

namespace lockstep {
namespace {

constexpr char kNone[] = "none";

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

}  // namespace

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

}  // namespace lockstep
