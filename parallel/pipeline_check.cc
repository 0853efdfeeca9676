#include "parallel/pipeline_check.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

bool IsForward(const PipelineAction& action) {
  return action.direction == PipelineDirection::kForward;
}

std::string Told(int rank, const PipelineAction& action) {
  return "rank " + std::to_string(rank) +
         (IsForward(action) ? " forward" : " backward") + " of micro-batch " +
         std::to_string(action.micro_batch) + ", chunk " +
         std::to_string(action.chunk);
}

absl::Status Wrong(const std::string& what) {
  return absl::InternalError("pipeline schedule: " + what);
}

}  // namespace

PipelineLists AllPipelineLists(const PipelineShape& shape) {
  PipelineLists lists;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    lists.push_back(PipelineScheduleOf(shape, rank));
  }
  return lists;
}

absl::Status CheckPipelineCoverage(const PipelineShape& shape,
                                   const PipelineLists& lists) {
  if (lists.size() != static_cast<size_t>(shape.ranks)) {
    return Wrong("not one list a rank");
  }
  for (int rank = 0; rank < shape.ranks; ++rank) {
    // The micro-batch that comes next, by direction and chunk.
    std::map<std::pair<bool, int>, int64_t> next;
    for (const PipelineAction& action : lists[static_cast<size_t>(rank)]) {
      if (action.chunk < 0 || action.chunk >= shape.interleave) {
        return Wrong(Told(rank, action) + ": no such chunk");
      }
      int64_t& due = next[{IsForward(action), action.chunk}];
      if (action.micro_batch != due) {
        return Wrong(Told(rank, action) + ": micro-batch " +
                     std::to_string(due) + " is due");
      }
      ++due;
      if (!IsForward(action) && next[{true, action.chunk}] < due) {
        return Wrong(Told(rank, action) + ": before its forward");
      }
    }
    for (int chunk = 0; chunk < shape.interleave; ++chunk) {
      for (const bool forward : {true, false}) {
        if (next[{forward, chunk}] == shape.micro_batches) continue;
        return Wrong("rank " + std::to_string(rank) + " ends early in chunk " +
                     std::to_string(chunk));
      }
    }
  }
  return absl::OkStatus();
}

int64_t PeakInFlight(const std::vector<PipelineAction>& list) {
  int64_t held = 0, peak = 0;
  for (const PipelineAction& action : list) {
    held += IsForward(action) ? 1 : -1;
    peak = std::max(peak, held);
  }
  return peak;
}

absl::StatusOr<PipelineTimes> SimulatePipeline(const PipelineShape& shape,
                                               const PipelineLists& lists,
                                               double forward_time,
                                               double backward_time) {
  // When each (stage, direction, micro-batch) has ended.
  std::map<std::tuple<int, bool, int64_t>, double> ended;
  std::vector<size_t> at(lists.size(), 0);
  PipelineTimes times = {.busy = std::vector<double>(lists.size(), 0)};
  std::vector<double> free(lists.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto r = static_cast<size_t>(rank);
      for (; at[r] < lists[r].size(); ++at[r], moved = true) {
        const PipelineAction& action = lists[r][at[r]];
        double start = free[r];
        if (const auto from = PipelineInput(shape, rank, action)) {
          const auto input =
              ended.find({PipelineStageOf(shape, from->rank, from->chunk),
                          IsForward(action), action.micro_batch});
          if (input == ended.end()) break;
          start = std::max(start, input->second);
        }
        const double time = IsForward(action) ? forward_time : backward_time;
        free[r] = start + time;
        times.busy[r] += time;
        times.makespan = std::max(times.makespan, free[r]);
        ended[{PipelineStageOf(shape, rank, action.chunk), IsForward(action),
               action.micro_batch}] = free[r];
      }
    }
  }
  for (size_t r = 0; r < lists.size(); ++r) {
    if (at[r] == lists[r].size()) continue;
    return Wrong(Told(static_cast<int>(r), lists[r][at[r]]) +
                 " waits for an input that never comes");
  }
  return times;
}

}  // namespace lockstep
