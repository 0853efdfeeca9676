#include "tests/layout_matrix/matrix_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/file_system.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::string RecipeOf(const std::string& sources) {
  const std::string first = SourceOf(
      WriteDocuments("matrix_a", UnevenDocuments(90, 3)), "weight = 2.0\n");
  const std::string second = SourceOf(
      WriteDocuments("matrix_b", UnevenDocuments(70, 11)), "weight = 1.0\n");
  return WriteSmallRecipe("matrix_" + sources,
                          first + (sources == "2" ? second : ""));
}

std::string ReadFile(const std::string& path) {
  const auto text = PosixFileSystem()->ReadFile(path);
  return text.ok() ? *text : "";
}

// The command under mpirun; the unseed it printed.
std::string TrainProcesses(const RigOptions& options, const TrainRig& rig,
                           int ranks) {
  std::string command = absl::StrCat(
      "TEST_TMPDIR=", testing::TempDir(),
      " bash -c '. parallel/mpi_run.sh; run_ranks ", ranks,
      " tools/lockstep train ", options.recipe, " --run ", rig.dir(),
      " --threads ", options.threads, " --json --allow dirty --reason test");
  for (const std::string& set : options.sets) {
    absl::StrAppend(&command, " --set \"", set, "\"");
  }
  absl::StrAppend(&command, " --set train.steps=", options.steps, "' >",
                  rig.dir(), ".out 2>", rig.dir(), ".err");
  EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n"
                                             << ReadFile(rig.dir() + ".err");
  const Json answer = Json::parse(ReadFile(rig.dir() + ".out"), nullptr, false);
  return answer.is_object() ? answer.value("unseed", "") : "";
}

}  // namespace

MatrixRunner::MatrixRunner(const DesignSpace& space, int64_t steps,
                           int64_t loss_scale)
    : space_(space), steps_(steps), loss_scale_(loss_scale) {
  for (const char* sources : {"1", "2"}) {
    recipes_[sources] = RecipeOf(sources);
  }
}

MatrixResult MatrixRunner::Run(const DesignRow& row) {
  LS_CHECK(Completes(space_, row)) << ToString(space_, row);
  const int ranks = ShapeOf(space_, row).world();
  RigOptions options = {
      .recipe = recipes_.at(LevelOf(space_, row, "sources")),
      .sets = SetsOf(space_, row),
      .steps = steps_,
      .threads = LevelOf(space_, row, "threads") == "2" ? 2 : 1,
      .ranks = ranks};
  options.sets.insert(
      options.sets.end(),
      {"data.validation_fraction=0.2", "eval.samples=8",
       absl::StrCat("eval.every=", steps_), "schedule.warmup=1",
       "metrics.tensorboard=false", absl::StrCat("checkpoint.every=", steps_),
       absl::StrCat("precision.initial_scale=", loss_scale_)});
  LS_CHECK_EQ(setenv("LOCKSTEP_ISA", LevelOf(space_, row, "level").c_str(), 1),
              0);
  const TrainRig rig = SmallRig("matrix_run");
  MatrixResult result;
  result.unseed = LevelOf(space_, row, "ranks as") == "mpi"
                      ? TrainProcesses(options, rig, ranks)
                      : rig.Unseed(options);
  if (testing::Test::HasFailure()) return result;
  result.lines = rig.Metrics();
  result.evaluation = rig.Read("eval.jsonl");
  return result;
}

const MatrixResult& MatrixRunner::Reference(const DesignRow& row) {
  const DesignRow reference = ReferenceOf(space_, row);
  const auto at = references_.find(reference);
  if (at != references_.end()) return at->second;
  return references_[reference] = Run(reference);
}

std::string MatrixRunner::Compare(const DesignRow& row) {
  const MatrixResult& want = Reference(row);
  const MatrixResult got = Run(row);
  const std::string what = ToString(space_, row);
  EXPECT_EQ(want.lines.size(), static_cast<size_t>(steps_)) << what;
  EXPECT_TRUE(SameLines(got.lines, want.lines)) << what;
  EXPECT_FALSE(want.evaluation.empty()) << what;
  EXPECT_EQ(got.evaluation, want.evaluation) << what;
  EXPECT_EQ(want.unseed.size(), 32u) << what;
  EXPECT_EQ(got.unseed, want.unseed) << what;
  int64_t skipped = 0;
  for (const std::string& line : got.lines) {
    skipped += absl::StrContains(line, "\"skipped\":true") ? 1 : 0;
  }
  const bool equal = got.lines == want.lines && got.unseed == want.unseed &&
                     got.evaluation == want.evaluation;
  return absl::StrCat(what, ": ", equal ? "equal" : "DIFFERENT", ", ",
                      got.lines.size(), " steps, ", skipped,
                      " skipped, unseed ", got.unseed);
}

}  // namespace lockstep
