#include "tests/layout_matrix/layout_run.h"

#include <gtest/gtest.h>

#include <mutex>

#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tests/cases/small_run.h"
#include "tests/cases/spoiling_comm.h"
#include "tools/evaluation.h"
#include "tools/metrics.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

std::vector<std::string> SetsOf(const LayoutCase& layout) {
  std::vector<std::string> sets = {
      "batch.global=8",
      "data.validation_fraction=0.2",
      absl::StrCat("batch.micro=", layout.micro),
      absl::StrCat("train.steps=", layout.steps),
      absl::StrCat("parallel.data=", layout.shape.data),
      absl::StrCat("parallel.pipeline=", layout.shape.pipeline),
      absl::StrCat("parallel.tensor=", layout.shape.tensor),
      absl::StrCat("parallel.interleave=", layout.interleave)};
  sets.insert(sets.end(), layout.sets.begin(), layout.sets.end());
  return sets;
}

// All ranks of a run: what each came to, and their turns to be looked at.
struct Ranks {
  std::vector<LayoutResult> results;
  const RankVisitor& visit;
  const RankVisitor& prepare;
  std::mutex mutex;

  void Let(const RankVisitor& visitor, int rank, Stepper& stepper) {
    if (!visitor) return;
    const std::lock_guard<std::mutex> lock(mutex);
    visitor(rank, stepper);
  }
};

absl::Status RunRank(const ResolvedRun& run, const Dataset& data,
                     const LayoutCase& layout, Communicator& quiet,
                     Ranks& ranks) {
  const RunConfig& c = run.config;
  SpoilingComm loud(quiet);
  Communicator& world = layout.spoilt ? loud : quiet;
  LS_ASSIGN_OR_RETURN(
      const auto groups,
      MakeLayout(&world, layout.shape, layout.interleave,
                 AxisOptions(c.model, c.guarantee, c.grid.tensor,
                             layout.shape.tensor, c.parallel.sequence)));
  Stepper stepper(c, {layout.threads, BestIsa(), run.schedule_length_samples},
                  &data, groups->layout, nullptr);
  LS_RETURN_IF_ERROR(stepper.Initialise());
  ranks.Let(ranks.prepare, world.rank(), stepper);
  LayoutResult& result = ranks.results[static_cast<size_t>(world.rank())];
  for (int64_t i = 0; i < layout.steps; ++i) {
    LS_ASSIGN_OR_RETURN(const StepReport report, stepper.Step());
    result.lines.push_back(MetricsLine(report));
  }
  ranks.Let(ranks.visit, world.rank(), stepper);
  LS_ASSIGN_OR_RETURN(const Evaluation evaluation,
                      Evaluate(stepper, 0, layout.micro));
  result.evaluation = EvaluationLine(layout.steps, evaluation);
  LS_ASSIGN_OR_RETURN(result.unseed, stepper.StateField());
  return absl::OkStatus();
}

}  // namespace

std::string BlendRecipe() {
  return WriteSmallRecipe(
      "layout_blend",
      absl::StrCat("reset_at_documents = true\n",
                   SourceOf(WriteDocuments("layout_a", UnevenDocuments(90, 3)),
                            "weight = 2.0\n"),
                   SourceOf(WriteDocuments("layout_b", UnevenDocuments(70, 11)),
                            "weight = 1.0\n")));
}

LayoutResult RunLayout(const std::string& recipe, const LayoutCase& layout,
                       const RankVisitor& visit, const RankVisitor& prepare) {
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = testing::TempDir() + "/layout_run";
  const auto run = ResolveRun(fs, recipe, SetsOf(layout), dir);
  LS_CHECK(run.ok()) << std::string(run.status().message());
  const RunConfig& c = run->config;
  const auto data = Dataset::Open(fs, c.data, dir, c.seed, c.model.vocab);
  LS_CHECK(data.ok()) << std::string(data.status().message());
  const int world = layout.shape.world();
  Ranks ranks = {std::vector<LayoutResult>(static_cast<size_t>(world)),
                 visit,
                 prepare,
                 {}};
  const absl::Status done = RunThreadRanks(world, [&](Communicator& comm) {
    return RunRank(*run, **data, layout, comm, ranks);
  });
  LS_CHECK(done.ok()) << ToString(layout) << ": "
                      << std::string(done.message());
  for (const LayoutResult& result : ranks.results) {
    EXPECT_EQ(result, ranks.results.front())
        << ToString(layout) << ": ranks differ";
  }
  return ranks.results.front();
}

std::string ToString(const LayoutCase& layout) {
  return absl::StrCat(ToString(layout.shape), ", interleave ",
                      layout.interleave, ", micro ", layout.micro);
}

}  // namespace lockstep
