// Small sections of the tests' own, and a recipe that reads them all.

#ifndef RECIPES_TEST_SECTIONS_H_
#define RECIPES_TEST_SECTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace recipes_test {

struct TopConfig {
  std::string guarantee = "bitwise";
  int64_t seed = 1;
};

inline void DescribeSection(Section& s, TopConfig& c) {
  s.Choice("guarantee", c.guarantee,
           {"statistical", "state_exact", "bitwise", "layout_invariant"},
           {.help = "what the run is held to"});
  s.Int("seed", c.seed, {.min = 0, .help = "root of all random numbers"});
}

struct BatchConfig {
  int64_t global = 16;
  int64_t micro = 2;
};

inline void DescribeSection(Section& s, BatchConfig& c) {
  s.Int("global", c.global, {.min = 1, .max = 4096, .help = "samples a step"});
  s.Int("micro", c.micro,
        {.min = 1, .help = "samples a micro-batch", .trajectory = false});
  s.Require(c.global % c.micro == 0, "micro", "does not divide batch.global",
            "1");
}

struct ModelConfig {
  int64_t hidden = 0;
  double dropout = 0;
  std::optional<int64_t> head_dim;
  std::vector<int64_t> cuts;
};

inline void DescribeSection(Section& s, ModelConfig& c) {
  s.Int("hidden", c.hidden,
        {.min = 32, .multiple_of = 32, .help = "width of the stream"});
  s.Real("dropout", c.dropout, {.min = 0, .below = 1, .help = "on mixers"});
  s.Int("head_dim", c.head_dim, {.min = 1, .help = "width of a head"});
  s.IntList("cuts", c.cuts, {.min = 0, .max_count = 3, .help = "stage cuts"});
  s.Reserved("tie", {}, "not built yet");
}

struct OptimizerConfig {
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.95};
  double weight_decay = 0.1;
  std::string mode = "fp32";
};

inline void DescribeSection(Section& s, OptimizerConfig& c) {
  s.Real("lr", c.lr, {.above = 0, .help = "peak learning rate"});
  s.RealList("betas", c.betas,
             {.min = 0,
              .below = 1,
              .min_count = 2,
              .max_count = 2,
              .help = "decay of the moments"});
  s.Real("weight_decay", c.weight_decay, {.min = 0, .help = "a step"});
  s.Reserved("mode", {"mxfp8"}, "not built yet");
  s.Choice("mode", c.mode, {"fp32", "bf16"}, {.help = "number format"});
}

struct SourceConfig {
  std::string path;
  double weight = 1;
};

inline void DescribeSection(Section& s, SourceConfig& c) {
  s.Path("path", c.path, {.help = "token files"});
  s.Real("weight", c.weight, {.above = 0, .help = "share of the blend"});
}

struct DataConfig {
  std::vector<SourceConfig> sources;
};

inline void DescribeSection(Section& s, DataConfig& c) {
  s.Each("source", c.sources, {.help = "what is blended"});
}

struct CheckpointConfig {
  int64_t every = 100;
  bool async = true;
};

inline void DescribeSection(Section& s, CheckpointConfig& c) {
  s.SetTrajectory(false);
  s.Int("every", c.every, {.min = 1, .help = "steps between saves"});
  s.Bool("async", c.async, {.help = "save while training"});
}

struct All {
  TopConfig top;
  BatchConfig batch;
  ModelConfig model;
  OptimizerConfig optimizer;
  DataConfig data;
  CheckpointConfig checkpoint;
};

inline All ReadAll(Recipe& recipe) {
  return {recipe.Read<TopConfig>(""),
          recipe.Read<BatchConfig>("batch"),
          recipe.Read<ModelConfig>("model"),
          recipe.Read<OptimizerConfig>("optimizer"),
          recipe.Read<DataConfig>("data"),
          recipe.Read<CheckpointConfig>("checkpoint")};
}

// What a recipe in memory ends with: "" when it is sound.
inline std::string MessageOf(const std::string& text,
                             const std::vector<std::string>& sets = {}) {
  absl::StatusOr<Recipe> recipe = Recipe::FromText(text, "t.toml", sets);
  if (!recipe.ok()) {
    return std::string(recipe.status().message());
  }
  ReadAll(*recipe);
  return std::string(recipe->Finish().message());
}

// A sound one, read and finished; model.hidden, which is required, is added by
// --set unless `text` speaks of it.
inline Recipe Sound(const std::string& text, std::vector<std::string> sets = {},
                    All* all = nullptr) {
  if (text.find("hidden") == std::string::npos) {
    sets.push_back("model.hidden=64");
  }
  Recipe recipe = *Recipe::FromText(text, "t.toml", sets);
  const All read = ReadAll(recipe);
  if (all != nullptr) {
    *all = read;
  }
  // A wrong one fails the tests that use it: its texts are refused.
  if (const absl::Status status = recipe.Finish(); !status.ok()) {
    ADD_FAILURE() << status.message();
  }
  return recipe;
}

}  // namespace recipes_test
}  // namespace lockstep

#endif  // RECIPES_TEST_SECTIONS_H_
