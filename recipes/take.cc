#include "recipes/take.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "recipes/suggest.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::min();
// Every integer up to here is a binary64.
constexpr int64_t kExact = int64_t{1} << 53;

Fault WrongType(const Value& value, const std::string& expected,
                std::string nearest) {
  return {"expected " + expected + ", got " + std::string(NameOf(value.kind)),
          std::move(nearest)};
}

template <typename T>
std::optional<T> Number(const std::string& text) {
  T number{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || text.empty()) {
    return std::nullopt;
  }
  return number;
}

// What number a value of another type may stand for.
std::optional<double> Meant(const Value& value) {
  if (value.is(Value::Kind::kReal) && !std::isnan(value.real)) {
    return value.real;
  }
  return value.is(Value::Kind::kString) ? Number<double>(value.text)
                                        : std::nullopt;
}

// The multiple of the step within the bounds that is closest to `value`.
int64_t NearestInt(int64_t value, const IntOptions& options) {
  const __int128 step = std::max<int64_t>(options.multiple_of, 1);
  const auto floor_to = [&](__int128 x) {
    return (x >= 0 ? x / step : -((-x + step - 1) / step)) * step;
  };
  const __int128 least = -floor_to(-static_cast<__int128>(options.min));
  const __int128 most = floor_to(options.max);
  const __int128 rounded = floor_to(static_cast<__int128>(value) + step / 2);
  return static_cast<int64_t>(
      std::clamp(rounded, least, std::max(least, most)));
}

int64_t Saturated(double value) {
  if (value >= 9.2e18) {
    return std::numeric_limits<int64_t>::max();
  }
  return value <= -9.2e18 ? std::numeric_limits<int64_t>::min()
                          : std::llround(value);
}

// As the exclusive bounds have it, the next binary64 that arithmetic does not
// flush to zero.
double NearestReal(double value, const RealOptions& options) {
  double least = std::max(options.min, -std::numeric_limits<double>::max());
  double most = std::min(options.max, std::numeric_limits<double>::max());
  if (options.above > -kInfinity) {
    least = std::max(least, options.above == 0
                                ? kSmallest
                                : std::nextafter(options.above, kInfinity));
  }
  if (options.below < kInfinity) {
    most = std::min(most, options.below == 0
                              ? -kSmallest
                              : std::nextafter(options.below, -kInfinity));
  }
  return std::clamp(value, least, std::max(least, most));
}

template <typename T, typename Options, typename Take>
Taken<std::vector<T>> TakeList(const Value& value, const Options& options,
                               const Take& take) {
  const auto item_options = ItemOptions(options);
  if (!value.is(Value::Kind::kList)) {
    const Taken<T> single = take(value, item_options);
    const std::string nearest = single.value && options.min_count <= 1
                                    ? ListText({CanonicalText(value)})
                                    : "";
    return {std::nullopt,
            WrongType(value,
                      ListTypeText(options.min_count, options.max_count,
                                   TypeText(item_options)),
                      nearest)};
  }
  if (auto fault = CheckCount(value.items.size(), options.min_count,
                              options.max_count)) {
    return {std::nullopt, *fault};
  }
  std::vector<T> list;
  for (size_t i = 0; i < value.items.size(); ++i) {
    Taken<T> item = take(value.items[i], item_options);
    if (!item.value) {
      item.fault.message =
          "item " + std::to_string(i) + ": " + item.fault.message;
      return {std::nullopt, item.fault};
    }
    list.push_back(*item.value);
  }
  return {std::move(list), {}};
}

}  // namespace

IntOptions ItemOptions(const IntListOptions& options) {
  return {.min = options.min, .max = options.max, .multiple_of = 1, .help = ""};
}

RealOptions ItemOptions(const RealListOptions& options) {
  return {.min = options.min,
          .max = options.max,
          .above = options.above,
          .below = options.below,
          .help = ""};
}

std::optional<Fault> CheckInt(int64_t value, const IntOptions& options) {
  if (value >= options.min && value <= options.max &&
      value % std::max<int64_t>(options.multiple_of, 1) == 0) {
    return std::nullopt;
  }
  return Fault{"must be " + TypeText(options),
               IntText(NearestInt(value, options))};
}

std::optional<Fault> CheckReal(double value, const RealOptions& options) {
  const bool sound = value >= options.min && value <= options.max &&
                     value > options.above && value < options.below;
  if (sound && std::isfinite(value)) {
    return std::nullopt;
  }
  if (std::isnan(value)) {
    return Fault{"must be " + TypeText(options) + ", not NaN", ""};
  }
  return Fault{
      "must be " + TypeText(options) + (std::isinf(value) ? ", finite" : ""),
      RealText(NearestReal(value, options))};
}

std::optional<Fault> CheckCount(size_t count, int64_t min, int64_t max) {
  const int64_t items = static_cast<int64_t>(count);
  if (items >= min && items <= max) {
    return std::nullopt;
  }
  return Fault{"has " + IntText(items) + " items; nearest valid count: " +
                   IntText(std::clamp(items, min, max)),
               ""};
}

Taken<bool> TakeBool(const Value& value) {
  if (value.is(Value::Kind::kBool)) {
    return {value.boolean, {}};
  }
  const bool is_text = value.is(Value::Kind::kString);
  const std::string nearest =
      is_text ? NearestWord(value.text, {"false", "true"})
              : BoolText(value.is(Value::Kind::kInt) && value.integer != 0);
  return {std::nullopt, WrongType(value, "true or false", nearest)};
}

Taken<int64_t> TakeInt(const Value& value, const IntOptions& options) {
  if (!value.is(Value::Kind::kInt)) {
    const std::optional<double> meant = Meant(value);
    return {std::nullopt,
            WrongType(
                value, TypeText(options),
                meant ? IntText(NearestInt(Saturated(*meant), options)) : "")};
  }
  if (auto fault = CheckInt(value.integer, options)) {
    return {std::nullopt, *fault};
  }
  return {value.integer, {}};
}

Taken<double> TakeReal(const Value& value, const RealOptions& options) {
  double real = value.real;
  if (value.is(Value::Kind::kInt)) {
    real = static_cast<double>(value.integer);
    if (value.integer < -kExact || value.integer > kExact) {
      return {std::nullopt,
              {"is an integer that a real cannot hold", RealText(real)}};
    }
  } else if (!value.is(Value::Kind::kReal)) {
    const std::optional<double> meant = Meant(value);
    return {std::nullopt, WrongType(value, TypeText(options),
                                    meant && !std::isnan(*meant)
                                        ? RealText(NearestReal(*meant, options))
                                        : "")};
  }
  if (value.underflow) {
    return {std::nullopt,
            {"is nearer to zero than a real holds (" + RealText(kSmallest) +
                 "), and would be zero",
             RealText(NearestReal(0.0, options))}};
  }
  if (auto fault = CheckReal(real, options)) {
    return {std::nullopt, *fault};
  }
  return {real, {}};
}

Taken<std::string> TakeString(const Value& value) {
  if (value.is(Value::Kind::kString)) {
    return {value.text, {}};
  }
  return {std::nullopt,
          WrongType(value, "a string", QuotedText(CanonicalText(value)))};
}

Taken<std::string> TakeChoice(const Value& value,
                              const std::vector<std::string>& allowed) {
  const bool is_text = value.is(Value::Kind::kString);
  const std::string text = is_text ? value.text : CanonicalText(value);
  const std::string nearest = QuotedText(NearestWord(text, allowed));
  if (!is_text) {
    return {std::nullopt, WrongType(value, ChoiceTypeText(allowed), nearest)};
  }
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    return {std::nullopt, {"must be " + ChoiceTypeText(allowed), nearest}};
  }
  return {text, {}};
}

Taken<std::vector<int64_t>> TakeIntList(const Value& value,
                                        const IntListOptions& options) {
  return TakeList<int64_t>(value, options, TakeInt);
}

Taken<std::vector<double>> TakeRealList(const Value& value,
                                        const RealListOptions& options) {
  return TakeList<double>(value, options, TakeReal);
}

}  // namespace lockstep
