// The pipeline's schedule as data: which forward or backward each rank does,
// in which order.
//
// What it is: 1F1B and interleaved 1F1B (Narayanan et al., "Efficient
// Large-Scale Language Model Training on GPU Clusters", 2021), made before step
// 0. What it is not: execution; whoever walks the list computes and exchanges.
// Why so: that nothing deadlocks, that memory is bounded and that gradients add
// up in micro-batch order can be proved of a list, for every shape
// (pipeline_check.h).
//
// A rank holds `interleave` chunks of the model; virtual stage
// `chunk * ranks + rank` is its chunk's place in the model. Messages are not in
// the list: an action's input comes from the neighbouring virtual stage, its
// output goes to the other one, and both sides send them in the same order for
// each (direction, chunk). Any number of micro-batches >= 1 works.

#ifndef PARALLEL_PIPELINE_SCHEDULE_H_
#define PARALLEL_PIPELINE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

struct PipelineShape {
  int ranks = 1;       // the mesh's pipeline degree
  int interleave = 1;  // chunks a rank
  int64_t micro_batches = 1;

  int stages() const { return ranks * interleave; }
  int64_t actions() const { return 2 * micro_batches * interleave; }
};

enum class PipelineDirection : uint8_t { kForward, kBackward };

struct PipelineAction {
  PipelineDirection direction = PipelineDirection::kForward;
  int64_t micro_batch = 0;
  int chunk = 0;
  friend bool operator==(const PipelineAction&,
                         const PipelineAction&) = default;
};

// The other end of a message; the tag is equal on both.
struct PipelinePeer {
  int rank = 0;
  int chunk = 0;  // of the peer
  int tag = 0;
  friend bool operator==(const PipelinePeer&, const PipelinePeer&) = default;
};

// Of one rank, in order: every micro-batch forward and backward once a chunk.
// Backward actions of a chunk ascend in micro_batch, so gradients add up in the
// order of the samples.
std::vector<PipelineAction> PipelineScheduleOf(const PipelineShape& shape,
                                               int rank);

// Place of a rank's chunk in the model, from 0 (embedding) to stages() - 1
// (head and loss).
int PipelineStageOf(const PipelineShape& shape, int rank, int chunk);

// Where an action's input comes from and where its output goes; nothing at the
// model's ends (a backward of the last stage starts from its own loss).
std::optional<PipelinePeer> PipelineInput(const PipelineShape& shape, int rank,
                                          const PipelineAction& action);
std::optional<PipelinePeer> PipelineOutput(const PipelineShape& shape, int rank,
                                           const PipelineAction& action);

// Most activations (forwards without their backward yet) a rank ever holds:
// min(micro_batches, ranks - rank) for 1F1B.
int64_t PipelineInFlight(const PipelineShape& shape, int rank);

// Share of the step in which the mean rank idles, a backward taking twice a
// forward and messages no time: (p - 1) / (v m + p - 1) where 1F1B is regular,
// else by simulation.
double PipelineBubble(const PipelineShape& shape);

}  // namespace lockstep

#endif  // PARALLEL_PIPELINE_SCHEDULE_H_
