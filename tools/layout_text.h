// A layout as an option has it: "data=2,tensor=2,pipeline=1".
//
// What it is: the text, taken apart into keys of a recipe, which then decides
// whether the layout can be. What it is not: a check of a layout
// (layout_check.h).
#ifndef LOCKSTEP_TOOLS_LAYOUT_TEXT_H_
#define LOCKSTEP_TOOLS_LAYOUT_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

// "parallel.data=2" and so on, for `--set`: all of data, tensor, pipeline and
// interleave, each 1 unless it is named. InputError for what is no such list.
absl::StatusOr<std::vector<std::string>> LayoutSets(std::string_view layout);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAYOUT_TEXT_H_
