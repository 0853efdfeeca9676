#include "tools/trace_diff/trace_filter.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/trace_diff/record_view.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {
namespace {

bool InScope(std::string_view scope, std::string_view wanted) {
  return wanted.empty() || scope == wanted ||
         (scope.starts_with(wanted) && scope[wanted.size()] == '.');
}

std::string TextOf(const TraceFilter& filter) {
  const std::string steps =
      filter.last == INT64_MAX
          ? absl::StrCat("steps from ", filter.first, " on")
          : absl::StrCat("steps ", filter.first, " to ", filter.last);
  return filter.scope.empty() ? steps
                              : absl::StrCat(filter.scope, " in ", steps);
}

}  // namespace

void TraceCoverage::Add(int64_t done, const trace::Header& header) {
  if (!files_.empty()) files_.back().last = std::min(files_.back().last, done);
  files_.push_back(
      {.first = std::max(header.first_step(), done + 1),
       .last = header.last_step() > 0 ? header.last_step() : INT64_MAX,
       .scope = header.scope()});
}

const TraceFilter* TraceCoverage::At(int64_t step) const {
  for (const TraceFilter& file : files_) {
    if (file.first <= step && step <= file.last) return &file;
  }
  return nullptr;
}

bool TraceCoverage::IsAnswered(const RecordView& record,
                               const TraceCoverage& other) const {
  const TraceFilter* there = other.At(record.step);
  if (there == nullptr) return false;
  if (record.operation == kStepOperation) return true;
  if (record.operation == kPhaseOperation) {  // of all that was asked for
    const TraceFilter* here = At(record.step);
    return here == nullptr || here->scope == there->scope;
  }
  return InScope(record.scope, there->scope);
}

std::string TraceCoverage::Text() const {
  return absl::StrJoin(files_, ", ",
                       [](std::string* text, const TraceFilter& file) {
                         absl::StrAppend(text, TextOf(file));
                       });
}

}  // namespace lockstep
