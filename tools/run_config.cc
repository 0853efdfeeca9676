#include "tools/run_config.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "data/tokenizer.h"
#include "determinism/check.h"
#include "determinism/status.h"
#include "tools/layout_check.h"

namespace lockstep {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

void CheckBatch(Recipe& recipe, const RunConfig& c) {
  if (c.batch.global % c.batch.micro != 0) {
    recipe.Error(
        "batch", "micro",
        absl::StrCat("batch.global = ", c.batch.global,
                     " is not a multiple of batch.micro = ", c.batch.micro),
        std::to_string(LargestDivisor(c.batch.global, c.batch.micro)));
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
    recipe.Error("data", "tokenizer", std::string(tokenizer.status().message()),
                 "byte");
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

void CheckLength(Recipe& recipe, const TrainConfig& train) {
  const int given = train.steps.has_value() + train.samples.has_value() +
                    train.tokens.has_value();
  if (given != 1) {
    recipe.Error("train", "steps",
                 "a run's length is given by exactly one of train.steps, "
                 "train.samples and train.tokens",
                 "steps = 100");
  }
}

void CheckSchedule(Recipe& recipe, const RunConfig& c) {
  const int64_t length =
      c.schedule.length.value_or(c.train.steps.value_or(INT64_MAX));
  if (c.schedule.has_length() &&
      c.schedule.warmup > length - c.schedule.decay) {
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

}  // namespace

void DescribeSection(Section& section, TopConfig& config) {
  section.Choice("guarantee", config.guarantee,
                 {"statistical", "state_exact", "bitwise", "layout_invariant"},
                 {.help = "rung of the guarantee ladder"});
  section.Int("seed", config.seed,
              {.min = 0, .help = "root of every random number"});
}

void DescribeSection(Section& section, TrainConfig& config) {
  section.SetTrajectory(false);
  section.Int("steps", config.steps, {.min = 1, .help = "length in steps"});
  section.Int("samples", config.samples,
              {.min = 1, .help = "length in samples"});
  section.Int("tokens", config.tokens, {.min = 1, .help = "length in tokens"});
  section.Bool(
      "recompute", config.recompute,
      {.help = "keep only each layer's input; same bits, less memory"});
}

void DescribeSection(Section& section, BatchConfig& config) {
  section.Int("global", config.global, {.min = 1, .help = "samples a step"});
  section.Int("micro", config.micro,
              {.min = 1, .help = "samples a micro-batch", .trajectory = false});
}

void DescribeSection(Section& section, GridConfig& config) {
  section.Int("tensor", config.tensor,
              {.min = 1,
               .max = 64,
               .help = "slices of sums that a tensor degree splits"});
  section.Require((config.tensor & (config.tensor - 1)) == 0, "tensor",
                  "the grid is a power of two", "4");
  section.Int("leaf", config.leaf,
              {.min = 1, .help = "samples whose gradient is one sum"});
}

void DescribeSection(Section& section, ParallelConfig& config) {
  section.SetTrajectory(false);
  section.Int("tensor", config.tensor, {.min = 1, .help = "tensor degree"});
  section.Int("pipeline", config.pipeline,
              {.min = 1, .help = "pipeline degree"});
  section.Int("data", config.data,
              {.min = 1, .help = "data degree; absent: world / the others"});
  section.Bool("sequence", config.sequence,
               {.help = "sequence parallelism between blocks"});
  section.Int("interleave", config.interleave,
              {.min = 1, .help = "model chunks a pipeline rank"});
}

void DescribeSection(Section& section, EvalConfig& config) {
  section.SetTrajectory(false);
  section.Int("every", config.every,
              {.min = 0, .help = "steps between evaluations; 0: at the end"});
  section.Int("samples", config.samples,
              {.min = 0, .help = "most held-out samples; 0: all"});
}

void DescribeSection(Section& section, MetricsConfig& config) {
  section.SetTrajectory(false);
  section.Bool("fingerprints", config.fingerprints,
               {.help = "fingerprint state, gradients and data every step"});
}

void DescribeSection(Section& section, TraceConfig& config) {
  section.SetTrajectory(false);
  section.Choice("level", config.level, {"off", "step", "phase", "operation"},
                 {.help = "what a trace records"});
  section.IntList("steps", config.steps,
                  {.min = 1,
                   .max_count = 2,
                   .help = "first and last step to trace; empty: all"});
  section.Require(config.steps.size() != 1, "steps",
                  "a window has a first and a last step", "[1, 10]");
  section.String("scope", config.scope,
                 {.help = "only this module path, such as layers.3"});
}

int64_t RunConfig::Steps() const {
  if (train.steps) return *train.steps;
  const int64_t samples =
      train.samples ? *train.samples : CeilDiv(*train.tokens, data.sequence);
  return CeilDiv(samples, batch.global);
}

int64_t RunConfig::ScheduleLengthSamples() const {
  return schedule.length.value_or(Steps()) * batch.global;
}

Schedule RunConfig::ResolveSchedule(int64_t length_samples) const {
  return {.shape = schedule.shape,
          .max_lr = optimizer.lr,
          .init_lr = schedule.init_lr,
          .min_lr = schedule.min_lr,
          .warmup_samples = schedule.warmup * batch.global,
          .decay_samples = schedule.decay * batch.global,
          .length_samples = length_samples};
}

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
  CheckLength(recipe, c.train);
  CheckBatch(recipe, c);
  ResolveVocab(recipe, c);
  CheckSchedule(recipe, c);
  CheckEvaluation(recipe, c);
  auto guarantee = GuaranteeFromName(top.guarantee);
  if (guarantee.ok()) c.guarantee = *guarantee;
  CheckLayout(recipe, c);
  LS_RETURN_IF_ERROR(recipe.Finish());
  if (c.schedule.has_length()) {
    recipe.Derive("schedule", "length_samples",
                  kept_schedule_samples.value_or(c.ScheduleLengthSamples()),
                  kept_schedule_samples ? "manifest" : "derived");
  }
  return c;
}

absl::Status CheckRunnable(const RunConfig& config, int64_t ranks) {
  const auto not_built = [](std::string_view what, std::string_view todo) {
    return InputError(absl::StrCat(std::string(what), " is not built yet"),
                      "this version of lockstep trains in one process", todo);
  };
  if (config.guarantee == Guarantee::kLayoutInvariant) {
    return not_built("guarantee = layout_invariant",
                     "use guarantee = \"bitwise\"");
  }
  if (config.parallel.world() > 1 || ranks > 1) {
    return not_built(
        absl::StrCat("a layout of ",
                     std::max<int64_t>(config.parallel.world(), ranks),
                     " ranks"),
        "set parallel.tensor, parallel.pipeline and parallel.data to 1");
  }
  return absl::OkStatus();
}

}  // namespace lockstep
