// `lockstep train`: the ranks of a launch, and what they answer.
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/train_process.h"
#include "tools/train_ranks.h"
#include "tools/verbs.h"
#include "tools/watchdog_config.h"

namespace lockstep {
namespace {

std::string ResultText(const TrainResult& r, bool json) {
  if (!json) return absl::StrCat("unseed ", r.unseed, "\n");
  const nlohmann::ordered_json object = {
      {"steps", r.steps},
      {"loss", r.loss},
      {"unseed", r.unseed},
      {"tokens_per_s", r.tokens_per_s},
      {"mfu", r.mfu},
      {"peak_bytes", r.peak_bytes},
      {"exposed_comm_ms", r.exposed_comm_ms}};
  return object.dump() + "\n";
}

}  // namespace

absl::StatusOr<Answer> TrainVerb(const TrainOptions& options) {
  RealClock clock;
  TrainResult result;
  bool printed_here = false;
  const int64_t timeout_s = RankTimeoutS(
      *PosixFileSystem(), options.rank_timeout_s, options.recipe, options.sets);
  LS_RETURN_IF_ERROR(
      RunRanks({.ranks = options.ranks,
                .timeout_ms = timeout_s * 1000,
                .step_timeout_ms = options.step_timeout_s * 1000},
               clock, [&](RankHandle& rank) -> absl::Status {
                 TrainProcess process(options, rank);
                 LS_ASSIGN_OR_RETURN(const TrainResult mine, process.Run());
                 if (rank.first_here) result = mine;
                 if (rank.world->rank() == 0) printed_here = true;
                 return absl::OkStatus();
               }));
  if (result.stopped_by != 0) {
    return StoppedOnRequest(
        absl::StrCat("stopped by signal ", result.stopped_by, " after step ",
                     result.steps, ", saved; unseed ", result.unseed),
        options.recipe,
        options.fork.empty() ? "run the same command again to go on"
                             : "run the same command without --fork to go on");
  }
  return Answer{printed_here ? ResultText(result, options.json) : ""};
}

}  // namespace lockstep
