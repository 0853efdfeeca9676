// Proof of a pipeline schedule: whether lists of actions can be trusted.
//
// What it is: for tests, and for whoever writes another schedule. Each function
// takes the lists of all ranks. What it is not: part of a step. Why so: a
// schedule that hangs does so at the scale at which it was never tried; a
// simulation of every shape is cheap.

#ifndef PARALLEL_PIPELINE_CHECK_H_
#define PARALLEL_PIPELINE_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parallel/pipeline_schedule.h"

namespace lockstep {

using PipelineLists = std::vector<std::vector<PipelineAction>>;  // by rank

PipelineLists AllPipelineLists(const PipelineShape& shape);

// Each micro-batch forward once and backward once for each chunk, backward
// after forward, both ascending in micro_batch within a chunk.
absl::Status CheckPipelineCoverage(const PipelineShape& shape,
                                   const PipelineLists& lists);

// Runs all ranks in step until they end or none can go on. A rank computes an
// action, then sends its output and receives the input of its next action at
// once, and waits for both. A channel (sender, receiver, tag) holds `buffer`
// messages that nobody asked for yet; with 0 a send ends when its receive has
// begun. Internal, naming who waits for whom, when it deadlocks.
absl::Status CheckPipelineProgress(const PipelineShape& shape,
                                   const PipelineLists& lists, int64_t buffer);

// Most forwards without their backward, by list.
int64_t PeakInFlight(const std::vector<PipelineAction>& list);

struct PipelineTimes {
  double makespan = 0;            // in forwards of one chunk
  std::vector<double> busy = {};  // by rank
};

// Start times by data dependence alone; Internal on a circle.
absl::StatusOr<PipelineTimes> SimulatePipeline(const PipelineShape& shape,
                                               const PipelineLists& lists,
                                               double forward_time,
                                               double backward_time);

}  // namespace lockstep

#endif  // PARALLEL_PIPELINE_CHECK_H_
