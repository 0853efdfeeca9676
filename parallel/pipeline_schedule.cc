#include "parallel/pipeline_schedule.h"

#include <algorithm>

#include "determinism/check.h"
#include "parallel/pipeline_check.h"

namespace lockstep {
namespace {

void CheckShape(const PipelineShape& shape, int rank) {
  LS_CHECK(shape.ranks >= 1 && shape.interleave >= 1 &&
           shape.micro_batches >= 1);
  LS_CHECK(rank >= 0 && rank < shape.ranks) << rank;
}

// Micro-batches go through the chunks in groups: a group passes one chunk, then
// the next. A group below `ranks` would let the pipeline run dry before its
// second chunk can start, and a short group behind a full one deadlocks; so
// what does not divide makes groups longer, never shorter.
int64_t Groups(const PipelineShape& shape) {
  return std::max<int64_t>(1, shape.micro_batches / shape.ranks);
}

// The first micro-batch of a group; the first groups are one longer.
int64_t GroupBegin(const PipelineShape& shape, int64_t group) {
  const int64_t size = shape.micro_batches / Groups(shape);
  const int64_t longer = shape.micro_batches % Groups(shape);
  return group * size + std::min(group, longer);
}

// The order in which every rank goes through (micro-batch, chunk). Backward
// takes the chunks from the last.
std::vector<PipelineAction> OneDirection(const PipelineShape& shape,
                                         PipelineDirection direction) {
  std::vector<PipelineAction> order;
  for (int64_t group = 0; group < Groups(shape); ++group) {
    for (int turn = 0; turn < shape.interleave; ++turn) {
      const int chunk = direction == PipelineDirection::kForward
                            ? turn
                            : shape.interleave - 1 - turn;
      for (int64_t micro_batch = GroupBegin(shape, group);
           micro_batch < GroupBegin(shape, group + 1); ++micro_batch) {
        order.push_back({direction, micro_batch, chunk});
      }
    }
  }
  return order;
}

// Forwards before the first backward: until the rank's own first backward could
// have come back from the end of the pipeline.
int64_t WarmUp(const PipelineShape& shape, int rank) {
  const int64_t all = shape.micro_batches * shape.interleave;
  const int64_t behind = shape.ranks - 1 - rank;
  if (shape.interleave == 1) return std::min(all, behind);
  const int64_t group = GroupBegin(shape, 1);
  return std::min(all, 2 * behind + (shape.interleave - 1) * group);
}

int TagOf(const PipelineShape& shape, PipelineDirection direction,
          int sender_chunk) {
  return static_cast<int>(direction) * shape.interleave + sender_chunk;
}

// The neighbour of a virtual stage; its side of the message.
std::optional<PipelinePeer> Neighbour(const PipelineShape& shape, int stage) {
  if (stage < 0 || stage >= shape.stages()) return std::nullopt;
  return PipelinePeer{.rank = stage % shape.ranks,
                      .chunk = stage / shape.ranks};
}

}  // namespace

std::vector<PipelineAction> PipelineScheduleOf(const PipelineShape& shape,
                                               int rank) {
  CheckShape(shape, rank);
  const auto forwards = OneDirection(shape, PipelineDirection::kForward);
  const auto backwards = OneDirection(shape, PipelineDirection::kBackward);
  const auto warm_up = static_cast<size_t>(WarmUp(shape, rank));
  std::vector<PipelineAction> list(forwards.begin(),
                                   forwards.begin() + WarmUp(shape, rank));
  for (size_t i = 0; i < backwards.size(); ++i) {
    if (warm_up + i < forwards.size()) list.push_back(forwards[warm_up + i]);
    list.push_back(backwards[i]);
  }
  return list;
}

int PipelineStageOf(const PipelineShape& shape, int rank, int chunk) {
  CheckShape(shape, rank);
  LS_CHECK(chunk >= 0 && chunk < shape.interleave) << chunk;
  return chunk * shape.ranks + rank;
}

std::optional<PipelinePeer> PipelineInput(const PipelineShape& shape, int rank,
                                          const PipelineAction& action) {
  const int stage = PipelineStageOf(shape, rank, action.chunk);
  const bool forward = action.direction == PipelineDirection::kForward;
  auto peer = Neighbour(shape, forward ? stage - 1 : stage + 1);
  if (peer) peer->tag = TagOf(shape, action.direction, peer->chunk);
  return peer;
}

std::optional<PipelinePeer> PipelineOutput(const PipelineShape& shape, int rank,
                                           const PipelineAction& action) {
  const int stage = PipelineStageOf(shape, rank, action.chunk);
  const bool forward = action.direction == PipelineDirection::kForward;
  auto peer = Neighbour(shape, forward ? stage + 1 : stage - 1);
  if (peer) peer->tag = TagOf(shape, action.direction, action.chunk);
  return peer;
}

int64_t PipelineInFlight(const PipelineShape& shape, int rank) {
  CheckShape(shape, rank);
  const int64_t all = shape.micro_batches * shape.interleave;
  return std::min(all, WarmUp(shape, rank) + 1);
}

double PipelineBubble(const PipelineShape& shape) {
  CheckShape(shape, 0);
  const int64_t idle = shape.ranks - 1;
  if (shape.interleave == 1 || shape.micro_batches % shape.ranks == 0) {
    return static_cast<double>(idle) /
           static_cast<double>(shape.interleave * shape.micro_batches + idle);
  }
  const auto times = SimulatePipeline(shape, AllPipelineLists(shape), 1, 2);
  LS_CHECK(times.ok()) << times.status();
  double busy = 0;
  for (const double rank : times->busy) busy += rank;
  return 1 - busy / (times->makespan * shape.ranks);
}

}  // namespace lockstep
