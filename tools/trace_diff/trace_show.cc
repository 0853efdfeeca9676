#include "tools/trace_diff/trace_show.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kNames = 5;

std::string_view ScopeOf(const trace::Record& record) {
  return record.has_module_end() ? record.module_end().scope()
                                 : record.operation().scope();
}

bool InScope(std::string_view scope, std::string_view wanted) {
  return wanted.empty() || scope == wanted ||
         (scope.starts_with(wanted) && scope[wanted.size()] == '.');
}

// The nearest of them, the nearest first.
std::vector<std::string> NearestOf(const std::set<std::string>& scopes,
                                   const std::string& wanted) {
  std::vector<std::string> names(scopes.begin(), scopes.end());
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& x, const std::string& y) {
                     return EditDistance(x, wanted) < EditDistance(y, wanted);
                   });
  if (names.size() > kNames) names.resize(kNames);
  return names;
}

}  // namespace

bool IsAsked(const trace::Record& record, const AskedRecords& asked) {
  return InScope(ScopeOf(record), asked.scope) &&
         (asked.step == 0 || record.step() == asked.step);
}

absl::Status CheckAsked(const Trace& trace, const AskedRecords& asked) {
  std::set<std::string> scopes;
  std::set<int64_t> steps;
  bool in_scope = false;
  for (const trace::Record& record : trace.records) {
    if (IsAsked(record, asked)) return absl::OkStatus();
    steps.insert(record.step());
    const std::string_view scope = ScopeOf(record);
    if (!scope.empty()) scopes.emplace(scope);
    in_scope = in_scope || InScope(scope, asked.scope);
  }
  if (trace.records.empty()) return absl::OkStatus();
  if (asked.step != 0 && !steps.contains(asked.step)) {
    return InputError(absl::StrCat("the trace has no step ", asked.step),
                      asked.file,
                      absl::StrCat("name one from ", *steps.begin(), " to ",
                                   *steps.rbegin()));
  }
  if (in_scope) {
    return InputError(absl::StrCat("no record of step ", asked.step,
                                   " is of module ", asked.scope),
                      asked.file, "leave one of --step and --scope out");
  }
  return InputError(
      absl::StrCat("no record of the trace is of module ", asked.scope),
      asked.file,
      scopes.empty()
          ? "this trace names no modules: leave --scope out"
          : absl::StrCat("name a module path; the nearest are ",
                         absl::StrJoin(NearestOf(scopes, asked.scope), ", ")));
}

}  // namespace lockstep
