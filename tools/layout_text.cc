#include "tools/layout_text.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<std::vector<std::string>> LayoutSets(std::string_view layout) {
  std::map<std::string, int64_t, std::less<>> degrees = {
      {"data", 1}, {"tensor", 1}, {"pipeline", 1}, {"interleave", 1}};
  constexpr char kTodo[] =
      "write data=2,tensor=2,pipeline=1; what is not "
      "named is 1";
  std::set<std::string> named;
  const std::string where = "--layout " + std::string(layout);
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(std::string(layout), ','))) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto degree = degrees.find(pair.first);
    if (degree == degrees.end()) {
      return InputError(
          absl::StrCat("a layout has no degree \"", pair.first, "\""), where,
          kTodo);
    }
    if (!named.insert(pair.first).second) {
      return InputError(
          absl::StrCat("a layout has one degree \"", pair.first, "\""), where,
          "leave one of them out");
    }
    if (!absl::SimpleAtoi(pair.second, &degree->second) || degree->second < 1) {
      return InputError(
          absl::StrCat("a degree is a whole number from 1, and got '",
                       pair.second, "'"),
          where, kTodo);
    }
  }
  std::vector<std::string> sets;
  for (const auto& [name, degree] : degrees) {
    sets.push_back(absl::StrCat("parallel.", name, "=", degree));
  }
  return sets;
}

}  // namespace lockstep
