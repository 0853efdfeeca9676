// A typed value out of a Value, or what is wrong with it and what would not be.

#ifndef RECIPES_TAKE_H_
#define RECIPES_TAKE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/section.h"
#include "recipes/value.h"

namespace lockstep {

struct Fault {
  std::string message;
  std::string nearest;  // canonical text of a valid value, or ""
};

template <typename T>
struct Taken {
  std::optional<T> value;  // absent: `fault` says why
  Fault fault;
};

Taken<bool> TakeBool(const Value& value);
Taken<int64_t> TakeInt(const Value& value, const IntOptions& options);
Taken<double> TakeReal(const Value& value, const RealOptions& options);
Taken<std::string> TakeString(const Value& value);
Taken<std::string> TakeChoice(const Value& value,
                              const std::vector<std::string>& allowed);
Taken<std::vector<int64_t>> TakeIntList(const Value& value,
                                        const IntListOptions& options);
Taken<std::vector<double>> TakeRealList(const Value& value,
                                        const RealListOptions& options);

// The checks of range alone; absent: sound.
std::optional<Fault> CheckInt(int64_t value, const IntOptions& options);
std::optional<Fault> CheckReal(double value, const RealOptions& options);
std::optional<Fault> CheckCount(size_t count, int64_t min, int64_t max);

IntOptions ItemOptions(const IntListOptions& options);
RealOptions ItemOptions(const RealListOptions& options);

// "an integer from 1 to 8, a multiple of 2".
std::string TypeText(const IntOptions& options);
std::string TypeText(const RealOptions& options);
// "a list of 2, each ...".
std::string ListTypeText(int64_t min_count, int64_t max_count,
                         const std::string& item);
// "one of a, b, c".
std::string ChoiceTypeText(const std::vector<std::string>& allowed);

}  // namespace lockstep

#endif  // RECIPES_TAKE_H_
