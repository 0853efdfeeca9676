// What a launch leaves behind that goes on from an earlier step.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/save.h"
#include "determinism/status.h"
#include "tools/abandoned_traces.h"
#include "tools/run_folder.h"

namespace lockstep {

absl::Status RunFolder::SetAsideAbove(int64_t step) {
  LS_ASSIGN_OR_RETURN(
      const std::vector<std::string> moved,
      SetAsideCheckpointsAbove(fs_, dir_, step, lock_->generation()));
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> traces,
                      SetAsideTraces(fs_, dir_, step, lock_->generation()));
  for (const auto& [what, names] :
       {std::pair("checkpoint", &moved), std::pair("trace", &traces)}) {
    if (names->empty()) continue;
    notes_.push_back(absl::StrCat("set aside ", names->size(), " ", what,
                                  "(s) beyond step ",
                                  std::max<int64_t>(step, 0)));
    LS_RETURN_IF_ERROR(
        Record("abandoned_tail", {{absl::StrCat(what, "s"), *names}}));
  }
  return absl::OkStatus();
}

}  // namespace lockstep
