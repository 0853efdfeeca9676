#include "tests/plan/measured_layout.h"

#include <gtest/gtest.h>

#include "determinism/check.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/config_layout.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

absl::StatusOr<MeasuredRank> MeasureRank(const ResolvedRun& run,
                                         const Dataset& data,
                                         Communicator& world) {
  const RunConfig& c = run.config;
  SaidByAxis said;
  const auto counted = CountWorld(&world, &said);
  LS_ASSIGN_OR_RETURN(const auto groups, MakeLayout(counted.get(), c));
  Stepper stepper(c, {1, BestIsa(), run.schedule_length_samples}, &data,
                  groups->layout, nullptr);
  LS_RETURN_IF_ERROR(stepper.Initialise());
  MeasuredRank rank;
  rank.at = groups->layout.at;
  rank.lasting_bytes = static_cast<double>(stepper.device().bytes_in_use());
  LS_RETURN_IF_ERROR(stepper.Step().status());
  said = {};
  LS_ASSIGN_OR_RETURN(const StepReport report, stepper.Step());
  LS_CHECK_EQ(report.attempt, 0) << "the second step was made twice";
  rank.said = said;
  rank.peak_bytes = static_cast<double>(stepper.device().peak_bytes());
  return rank;
}

}  // namespace

MeasuredLayout MeasureLayout(const std::string& recipe,
                             const std::vector<std::string>& sets) {
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = testing::TempDir() + "/measured";
  const auto run = ResolveRun(fs, recipe, sets, dir);
  LS_CHECK(run.ok()) << std::string(run.status().message());
  const RunConfig& c = run->config;
  const auto data = Dataset::Open(fs, c.data, dir, c.seed, c.model.vocab);
  LS_CHECK(data.ok()) << std::string(data.status().message());
  const int ranks = MeshShapeOf(c).world();
  MeasuredLayout measured = {.config = c, .ranks = {}};
  measured.ranks.resize(static_cast<size_t>(ranks));
  const absl::Status done =
      RunThreadRanks(ranks, [&](Communicator& world) -> absl::Status {
        LS_ASSIGN_OR_RETURN(measured.ranks[static_cast<size_t>(world.rank())],
                            MeasureRank(*run, **data, world));
        return absl::OkStatus();
      });
  LS_CHECK(done.ok()) << std::string(done.message());
  return measured;
}

}  // namespace lockstep
