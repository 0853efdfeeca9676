// What a recipe says, taken apart by component, for whoever sets a run up.
//
// What it is: the sections that belong to the train loop itself (train, batch,
// grid, parallel, eval, metrics, trace), and RunConfig, which holds every
// component's own struct side by side. What it is not: something to hand on:
// components get their section only. Why so: checks that cross sections (a
// micro-batch that does not divide, a layout that does not fit the model) need
// one place that sees two sections at once, and this is it.
#ifndef LOCKSTEP_TOOLS_RUN_CONFIG_H_
#define LOCKSTEP_TOOLS_RUN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/checkpoint_config.h"
#include "data/data_config.h"
#include "determinism/guarantee.h"
#include "model/config.h"
#include "model/optimizer.h"
#include "model/precision.h"
#include "model/schedule.h"
#include "parallel/state_sharding.h"
#include "recipes/recipe.h"
#include "recipes/section.h"
#include "tools/batch_schedule.h"
#include "tools/spike_detector.h"

namespace lockstep {

struct TopConfig {
  std::string guarantee = "bitwise";
  int64_t seed = 0;
};
void DescribeSection(Section& section, TopConfig& config);

// The run's length, in exactly one unit, and what to keep for backward.
struct TrainConfig {
  std::optional<int64_t> steps;
  std::optional<int64_t> samples;
  std::optional<int64_t> tokens;
  bool recompute = false;
};
void DescribeSection(Section& section, TrainConfig& config);

struct BatchConfig {
  int64_t global = 16;   // samples a step
  int64_t micro = 2;     // samples a micro-batch
  std::string schedule;  // see batch_schedule.h; empty: global throughout
};
void DescribeSection(Section& section, BatchConfig& config);

// The cuts that decide orders of summation across layouts (N4, N5).
struct GridConfig {
  int64_t tensor = 4;
  int64_t leaf = 1;  // samples
};
void DescribeSection(Section& section, GridConfig& config);

struct ParallelConfig {
  int64_t tensor = 1;
  int64_t pipeline = 1;
  std::optional<int64_t> data;  // absent: what is left of the world
  bool sequence = false;
  int64_t interleave = 1;
  bool overlap = true;
  int64_t bucket_bytes = kDefaultBucketBytes;

  int64_t world() const { return tensor * pipeline * data.value_or(1); }
};
void DescribeSection(Section& section, ParallelConfig& config);

struct EvalConfig {
  int64_t every = 0;    // steps; 0: only at the end
  int64_t samples = 0;  // at most so many of each source; 0: all
};
void DescribeSection(Section& section, EvalConfig& config);

struct MetricsConfig {
  bool fingerprints = true;
  bool tensorboard = true;
};
void DescribeSection(Section& section, MetricsConfig& config);

struct TraceConfig {
  std::string level = "off";
  std::vector<int64_t> steps;  // first and last, inclusive; empty: all
  std::vector<int64_t> ranks;  // empty: all
  std::string scope;
  std::string values = "none";
};
void DescribeSection(Section& section, TraceConfig& config);

// What `launch` does when there are fewer hosts than there were.
struct ElasticConfig {
  int64_t wait_for_replacement_s = 600;
  std::string batch = "keep";
  std::string probe;  // a shell command about LOCKSTEP_HOST
  int64_t probe_timeout_s = 10;
  int64_t probe_every_s = 10;  // of a job's hosts while it runs; 0: never
  std::string spares;          // names of hosts, with commas between
};
void DescribeSection(Section& section, ElasticConfig& config);

struct RunConfig {
  Guarantee guarantee = Guarantee::kBitwise;
  uint64_t seed = 0;
  TrainConfig train;
  BatchConfig batch;
  GridConfig grid;
  ParallelConfig parallel;
  ModelConfig model;
  PrecisionConfig precision;
  DataConfig data;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  CheckpointConfig checkpoint;
  EvalConfig eval;
  MetricsConfig metrics;
  SpikeConfig spike;
  TraceConfig trace;
  ElasticConfig elastic;
  BatchSchedule batches;  // what `batch` says

  // The run's length in steps; a length in samples or tokens is rounded up.
  int64_t Steps() const;
  // The curve in samples; `length_samples` is what the run resolved at step 0.
  Schedule ResolveSchedule(int64_t length_samples) const;
  // The curve's length: `kept`, which the run resolved at its step 0, unless
  // there is none or the recipe names the length of its curve itself.
  int64_t ScheduleLengthSamples(std::optional<int64_t> kept) const;
};

// Reads every section, checks what crosses sections and reports all errors of
// the recipe together (InvalidArgument). `kept_schedule_samples`: the length
// that an existing run resolved at its step 0, which a longer run keeps.
absl::StatusOr<RunConfig> ReadRunConfig(
    Recipe& recipe, std::optional<int64_t> kept_schedule_samples);

// Whether the recipe gives the run's length, in one unit; else an error of it.
bool CheckLength(Recipe& recipe, const TrainConfig& train);

// Refused, naming the feature, when this build cannot run it yet.
absl::Status CheckRunnable(const RunConfig& config, int64_t ranks);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_CONFIG_H_
