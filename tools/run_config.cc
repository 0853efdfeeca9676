#include "tools/run_config.h"

#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "data/tokenizer.h"
#include "determinism/check.h"
#include "determinism/status.h"
#include "tools/layout_check.h"
#include "tools/watchdog_config.h"

namespace lockstep {
namespace {

// An error's lines as one, for the list of a recipe's errors.
std::string Sentence(const absl::Status& status) {
  return absl::StrReplaceAll(std::string(status.message()),
                             {{"\n  where: ", "; "}, {"\n  do: ", "; "}});
}

// The schedule with `global` as its first batch: "0:4,1000:16".
std::string BeginningWith(int64_t global, const std::string& schedule) {
  const size_t rest = schedule.find(',');
  return absl::StrCat("0:", global,
                      rest == std::string::npos ? "" : schedule.substr(rest));
}

void ReadBatchSchedule(Recipe& recipe, RunConfig& c) {
  c.batches = BatchSchedule(c.batch.global);
  if (c.batch.schedule.empty()) return;
  auto schedule = BatchSchedule::Parse(c.batch.schedule);
  if (!schedule.ok()) {
    recipe.Error("batch", "schedule", Sentence(schedule.status()),
                 absl::StrCat("0:", c.batch.global));
    return;
  }
  c.batches = *schedule;
  if (c.batches.first() != c.batch.global) {
    recipe.Error(
        "batch", "schedule",
        absl::StrCat("the schedule begins with ", c.batches.first(),
                     " samples a step, and batch.global = ", c.batch.global),
        BeginningWith(c.batch.global, c.batch.schedule));
  }
}

void CheckBatch(Recipe& recipe, const RunConfig& c) {
  int64_t common = 0;  // divides every batch
  for (const int64_t global : c.batches.sizes()) {
    common = std::gcd(common, global);
  }
  for (const int64_t global : c.batches.sizes()) {
    if (global % c.batch.micro == 0) continue;
    recipe.Error("batch", "micro",
                 absl::StrCat("a batch of ", global,
                              " samples is not a multiple of batch.micro = ",
                              c.batch.micro),
                 std::to_string(LargestDivisor(common, c.batch.micro)));
    break;
  }
  if (c.batch.micro % c.grid.leaf != 0) {
    recipe.Error("grid", "leaf",
                 absl::StrCat("batch.micro = ", c.batch.micro,
                              " is not a multiple of grid.leaf = ", c.grid.leaf,
                              "; a leaf is never split (N5)"),
                 std::to_string(LargestDivisor(c.batch.micro, c.grid.leaf)));
  }
}

// The vocabulary is the tokenizer's unless the model says a larger one.
void ResolveVocab(Recipe& recipe, RunConfig& c) {
  auto tokenizer = MakeTokenizer(c.data.tokenizer);
  if (!tokenizer.ok()) {
    recipe.Error("data", "tokenizer", Sentence(tokenizer.status()), "byte");
    return;
  }
  const int64_t needed = (*tokenizer)->vocab_size();
  if (c.model.vocab == 0) c.model.vocab = needed;
  if (c.model.vocab < needed) {
    recipe.Error(
        "model", "vocab",
        absl::StrCat("model.vocab = ", c.model.vocab, " is smaller than the ",
                     needed, " ids of data.tokenizer = ", c.data.tokenizer),
        std::to_string(needed));
  }
}

void CheckSchedule(Recipe& recipe, const RunConfig& c) {
  if (!c.schedule.has_length()) return;
  const int64_t length = c.schedule.length ? *c.schedule.length : c.Steps();
  if (c.schedule.warmup > length - c.schedule.decay) {
    recipe.Error(
        "schedule", "warmup",
        absl::StrCat("warm-up of ", c.schedule.warmup, " steps and decay of ",
                     c.schedule.decay, " do not fit a curve of ", length,
                     " steps"),
        std::to_string(std::max<int64_t>(length - c.schedule.decay, 0)));
  }
}

void CheckEvaluation(Recipe& recipe, const RunConfig& c) {
  if (c.eval.every > 0 && c.data.validation_fraction == 0.0) {
    recipe.Error("eval", "every",
                 "an evaluation needs held-out documents, and "
                 "data.validation_fraction is 0",
                 "0");
  }
}

// Samples of what the recipe counts in steps: another batch bends the curve,
// and these say so at a resume.
void DeriveCurve(Recipe& recipe, const RunConfig& c,
                 std::optional<int64_t> kept) {
  const Schedule curve = c.ResolveSchedule(c.ScheduleLengthSamples(kept));
  if (c.schedule.has_length()) {
    const bool keeps = kept && !c.schedule.length;
    recipe.Derive("schedule", "length_samples", curve.length_samples,
                  keeps ? "manifest" : "derived");
  }
  if (c.schedule.warmup > 0) {
    recipe.Derive("schedule", "warmup_samples", curve.warmup_samples);
  }
  if (c.schedule.decay > 0) {
    recipe.Derive("schedule", "decay_samples", curve.decay_samples);
  }
}

}  // namespace

absl::StatusOr<RunConfig> ReadRunConfig(
    Recipe& recipe, std::optional<int64_t> kept_schedule_samples) {
  RunConfig c;
  const TopConfig top = recipe.Read<TopConfig>("");
  c.seed = static_cast<uint64_t>(top.seed);
  c.train = recipe.Read<TrainConfig>("train");
  c.batch = recipe.Read<BatchConfig>("batch");
  c.grid = recipe.Read<GridConfig>("grid");
  c.parallel = recipe.Read<ParallelConfig>("parallel");
  c.model = recipe.Read<ModelConfig>("model");
  c.precision = recipe.Read<PrecisionConfig>("precision");
  c.data = recipe.Read<DataConfig>("data");
  c.optimizer = recipe.Read<OptimizerConfig>("optimizer");
  c.schedule = recipe.Read<ScheduleConfig>("schedule");
  c.checkpoint = recipe.Read<CheckpointConfig>("checkpoint");
  c.eval = recipe.Read<EvalConfig>("eval");
  c.metrics = recipe.Read<MetricsConfig>("metrics");
  c.trace = recipe.Read<TraceConfig>("trace");
  c.spike = recipe.Read<SpikeConfig>("spike");
  c.elastic = recipe.Read<ElasticConfig>("elastic");
  recipe.Read<WatchdogConfig>("watchdog");  // in force before all this
  ReadBatchSchedule(recipe, c);
  CheckBatch(recipe, c);
  ResolveVocab(recipe, c);
  if (CheckLength(recipe, c.train)) CheckSchedule(recipe, c);
  CheckEvaluation(recipe, c);
  auto guarantee = GuaranteeFromName(top.guarantee);
  if (guarantee.ok()) c.guarantee = *guarantee;
  CheckLayout(recipe, c);
  LS_RETURN_IF_ERROR(recipe.Finish());
  DeriveCurve(recipe, c, kept_schedule_samples);
  return c;
}

absl::Status CheckRunnable(const RunConfig& config, int64_t ranks) {
  if (config.parallel.world() == ranks) return absl::OkStatus();
  return InputError(
      absl::StrCat("the recipe's layout has ", config.parallel.world(),
                   " ranks, and ", ranks, " run"),
      "[parallel]",
      config.guarantee == Guarantee::kLayoutInvariant
          ? "this verb works on one rank: set parallel.data and "
            "parallel.pipeline to 1, which changes no bit of this run"
          : absl::StrCat("this verb works on one rank, and one rank has the "
                         "bits of several on the rung layout_invariant alone; "
                         "this is ",
                         NameOf(config.guarantee)));
}

}  // namespace lockstep
