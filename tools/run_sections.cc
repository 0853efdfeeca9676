// The recipe sections of the train loop itself: keys, ranges, help.
#include "tools/run_config.h"

namespace lockstep {
namespace {

// No run is longer than this many samples or tokens.
constexpr int64_t kLongest = int64_t{1} << 52;
// Of a layout, in each direction.
constexpr int64_t kMostRanks = int64_t{1} << 20;

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
  section.Int("steps", config.steps,
              {.min = 1,
               .max = kMostSteps,
               .help = "length in steps; or samples, or tokens"});
  section.Int("samples", config.samples,
              {.min = 1, .max = kLongest, .help = "length in samples"});
  section.Int("tokens", config.tokens,
              {.min = 1, .max = kLongest, .help = "length in tokens"});
  section.Bool(
      "recompute", config.recompute,
      {.help = "keep only each layer's input; same bits, less memory"});
}

void DescribeSection(Section& section, BatchConfig& config) {
  section.Int("global", config.global,
              {.min = 1, .max = kMostBatch, .help = "samples a step"});
  section.Int("micro", config.micro,
              {.min = 1,
               .max = kMostBatch,
               .help = "samples a micro-batch",
               .trajectory = false});
  section.String("schedule", config.schedule,
                 {.help = "samples a step by samples seen, such as "
                          "0:8,1000:16; empty: batch.global"});
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
  section.Int("tensor", config.tensor,
              {.min = 1, .max = kMostRanks, .help = "tensor degree"});
  section.Int("pipeline", config.pipeline,
              {.min = 1, .max = kMostRanks, .help = "pipeline degree"});
  section.Int("data", config.data,
              {.min = 1,
               .max = kMostRanks,
               .help = "data degree; absent: world / the others"});
  section.Bool("sequence", config.sequence,
               {.help = "sequence parallelism between blocks; below "
                        "layout_invariant it changes bits"});
  section.Int(
      "interleave", config.interleave,
      {.min = 1, .max = kMostRanks, .help = "model chunks a pipeline rank"});
  section.Bool("overlap", config.overlap,
               {.help = "reduce gradients while backward goes on; same bits"});
  section.Int("bucket_bytes", config.bucket_bytes,
              {.min = 1,
               .max = int64_t{1} << 40,
               .help = "gradients that are reduced together; same bits"});
}

void DescribeSection(Section& section, EvalConfig& config) {
  section.SetTrajectory(false);
  section.Int("every", config.every,
              {.min = 0, .help = "steps between evaluations; 0: at the end"});
  section.Int("samples", config.samples,
              {.min = 0, .help = "most held-out samples of a source; 0: all"});
}

void DescribeSection(Section& section, MetricsConfig& config) {
  section.SetTrajectory(false);
  section.Bool("fingerprints", config.fingerprints,
               {.help = "fingerprint state, gradients and data every step"});
  section.Bool("tensorboard", config.tensorboard,
               {.help = "write RUN/tb for TensorBoard"});
}

void DescribeSection(Section& section, TraceConfig& config) {
  section.SetTrajectory(false);
  section.Choice("level", config.level,
                 {"off", "step", "phase", "module", "operation", "kernel"},
                 {.help = "what a trace records"});
  section.IntList("steps", config.steps,
                  {.min = 1,
                   .max_count = 2,
                   .help = "first and last step to trace; empty: all"});
  section.Require(config.steps.size() != 1, "steps",
                  "a window has a first and a last step", "[1, 10]");
  section.Require(
      config.steps.size() != 2 || config.steps[0] <= config.steps[1], "steps",
      "the last step is before the first", "[1, 10]");
  section.IntList("ranks", config.ranks,
                  {.min = 0, .help = "ranks that trace; empty: all"});
  section.String("scope", config.scope,
                 {.help = "only this module path, such as layers.3"});
  section.Choice("values", config.values,
                 {"none", "statistics", "sample", "bytes"},
                 {.help = "of operations' elements, beside fingerprints"});
}

void DescribeSection(Section& section, ElasticConfig& config) {
  section.SetTrajectory(false);
  section.Int("wait_for_replacement_s", config.wait_for_replacement_s,
              {.min = 0,
               .max = 7 * 86'400,
               .help = "seconds that launch waits for hosts, then fewer do"});
  section.Choice("batch", config.batch, {"keep", "nearest", "refuse"},
                 {.help = "the batch of fewer replicas: as it is, the nearest "
                          "they share evenly, or only if they do"});
  section.String("probe", config.probe,
                 {.help = "shell command that is 0 if LOCKSTEP_HOST is alive"});
  section.Int("probe_timeout_s", config.probe_timeout_s,
              {.min = 1,
               .max = 86'400,
               .help = "seconds after which a probe counts as no answer"});
  section.Int("probe_every_s", config.probe_every_s,
              {.min = 0,
               .max = 86'400,
               .help = "seconds between probes of hosts that are at work; two "
                       "without an answer end the job; 0: none"});
  section.String("spares", config.spares,
                 {.help = "hosts to use only where others are too few: a,b"});
}

}  // namespace lockstep
