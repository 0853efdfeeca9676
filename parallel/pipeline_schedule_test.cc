#include "parallel/pipeline_schedule.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "parallel/pipeline_check.h"

namespace lockstep {
namespace {

std::string Told(const PipelineShape& shape) {
  return std::to_string(shape.ranks) + " ranks x " +
         std::to_string(shape.interleave) + " chunks, " +
         std::to_string(shape.micro_batches) + " micro-batches";
}

std::vector<PipelineShape> AllShapes() {
  std::vector<PipelineShape> shapes;
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (int interleave = 1; interleave <= 3; ++interleave) {
      for (int64_t micro_batches = 1; micro_batches <= 16; ++micro_batches) {
        shapes.push_back({ranks, interleave, micro_batches});
      }
    }
  }
  return shapes;
}

// Messages a channel has to hold that nobody asked for yet.
int64_t BufferFor(const PipelineShape& shape) {
  if (shape.interleave == 1) return 0;
  return shape.micro_batches % shape.ranks == 0 ? 1 : 2;
}

// Public report pytorch/torchtitan#775: fewer micro-batches than stages hung.
// The kind: a schedule tried where everything divides, and hanging elsewhere.
// So every shape is tried, those with fewer micro-batches included.
TEST(PipelineScheduleTest, EveryShapeCoversAllAndEnds_Torchtitan775) {
  int shapes = 0, fewer = 0;
  for (const PipelineShape& shape : AllShapes()) {
    const PipelineLists lists = AllPipelineLists(shape);
    const absl::Status covers = CheckPipelineCoverage(shape, lists);
    EXPECT_TRUE(covers.ok()) << Told(shape) << ": " << covers;
    for (const int64_t buffer : {BufferFor(shape), int64_t{1000}}) {
      const absl::Status ends = CheckPipelineProgress(shape, lists, buffer);
      EXPECT_TRUE(ends.ok()) << Told(shape) << ": " << ends;
    }
    ++shapes;
    fewer += shape.micro_batches < shape.ranks ? 1 : 0;
  }
  EXPECT_EQ(shapes, 8 * 3 * 16);
  EXPECT_EQ(fewer, 3 * 28);
}

TEST(PipelineScheduleTest, ActivationsInFlightAreBounded) {
  int64_t compared = 0;
  for (const PipelineShape& shape : AllShapes()) {
    for (int rank = 0; rank < shape.ranks; ++rank, ++compared) {
      const int64_t peak = PeakInFlight(PipelineScheduleOf(shape, rank));
      EXPECT_EQ(peak, PipelineInFlight(shape, rank)) << Told(shape);
      if (shape.interleave > 1) continue;
      EXPECT_EQ(peak,
                std::min<int64_t>(shape.micro_batches, shape.ranks - rank));
    }
  }
  EXPECT_EQ(compared, 36 * 3 * 16);
}

TEST(PipelineScheduleTest, BubbleIsThatOfTheSimulation) {
  for (const PipelineShape& shape : AllShapes()) {
    const auto times = SimulatePipeline(shape, AllPipelineLists(shape), 1, 2);
    ASSERT_TRUE(times.ok()) << Told(shape) << ": " << times.status();
    const double work = 3.0 * static_cast<double>(shape.micro_batches) *
                        static_cast<double>(shape.interleave);
    for (const double busy : times->busy) EXPECT_EQ(busy, work);
    // A few roundings of a quotient below 1.
    EXPECT_NEAR(PipelineBubble(shape), 1 - work / times->makespan, 0x1p-50)
        << Told(shape);
  }
  EXPECT_EQ(PipelineBubble({.ranks = 4, .micro_batches = 12}), 3.0 / 15.0);
  EXPECT_EQ(PipelineBubble({.ranks = 4, .interleave = 3, .micro_batches = 12}),
            3.0 / 39.0);
}

TEST(PipelineScheduleTest, TheListOfTheLastOfTwoRanks) {
  using enum PipelineDirection;
  const PipelineShape shape = {.ranks = 2, .micro_batches = 2};
  EXPECT_EQ(PipelineScheduleOf(shape, 0),
            (std::vector<PipelineAction>{{kForward, 0, 0},
                                         {kForward, 1, 0},
                                         {kBackward, 0, 0},
                                         {kBackward, 1, 0}}));
  EXPECT_EQ(PipelineScheduleOf(shape, 1),
            (std::vector<PipelineAction>{{kForward, 0, 0},
                                         {kBackward, 0, 0},
                                         {kForward, 1, 0},
                                         {kBackward, 1, 0}}));
}

TEST(PipelineScheduleTest, BothEndsOfAMessageNameTheSameOne) {
  int64_t messages = 0;
  for (const PipelineShape& shape : AllShapes()) {
    for (int rank = 0; rank < shape.ranks; ++rank) {
      for (const PipelineAction& action : PipelineScheduleOf(shape, rank)) {
        const auto to = PipelineOutput(shape, rank, action);
        if (!to) continue;
        const auto back = PipelineInput(
            shape, to->rank, {action.direction, action.micro_batch, to->chunk});
        EXPECT_EQ(back, (PipelinePeer{rank, action.chunk, to->tag}));
        ++messages;
      }
    }
  }
  EXPECT_GT(messages, 10'000);
}

// Canaries: each checker fires on a list that is wrong.
TEST(PipelineScheduleTest, WrongListsAreFound) {
  const PipelineShape shape = {.ranks = 2, .micro_batches = 3};
  const PipelineLists good = AllPipelineLists(shape);
  PipelineLists lists = good;
  lists[1].pop_back();
  EXPECT_FALSE(CheckPipelineCoverage(shape, lists).ok());
  lists = good;
  std::swap(lists[1][0], lists[1][1]);  // backward before its forward
  EXPECT_FALSE(CheckPipelineCoverage(shape, lists).ok());
  lists = good;
  std::swap(lists[1][0], lists[1][2]);  // micro-batch 1 before 0
  EXPECT_FALSE(CheckPipelineCoverage(shape, lists).ok());
  EXPECT_FALSE(CheckPipelineProgress(shape, lists, 0).ok());
  lists = good;
  lists[0][0].micro_batch = 1;
  EXPECT_FALSE(CheckPipelineProgress(shape, lists, 8).ok());
  lists = good;  // no warm-up: rank 0 waits for what it should feed
  std::swap(lists[0][1], lists[0][2]);
  EXPECT_TRUE(CheckPipelineProgress(shape, lists, 1).ok());
  std::swap(lists[0][0], lists[0][1]);
  EXPECT_FALSE(CheckPipelineProgress(shape, lists, 1).ok());
  EXPECT_FALSE(SimulatePipeline(shape, lists, 1, 2).ok());
}

// Interleaving with a channel too short is a deadlock that the check can see.
TEST(PipelineScheduleTest, AShortChannelIsSeen) {
  const PipelineShape shape = {
      .ranks = 4, .interleave = 2, .micro_batches = 11};
  const absl::Status status =
      CheckPipelineProgress(shape, AllPipelineLists(shape), 1);
  EXPECT_NE(std::string(status.message()).find("deadlocks: rank 0 sends to"),
            std::string::npos)
      << status;
}

}  // namespace
}  // namespace lockstep
