// The spread of seeds of one recipe, as `seeds` measures it and `compare
// --spread` reads it.
//
// What it is: the final evaluations of N runs that differ in their seed alone,
// their mean and deviation, and what recipe they are of. What it is not: the
// runs: their folders may be gone. Why so: one run an arm says nothing about
// noise, and a proxy's spread is better than none, as long as everybody sees
// that it is a proxy's: the recipe is in the file, key by key.
#ifndef LOCKSTEP_TOOLS_COMPARE_SPREAD_FILE_H_
#define LOCKSTEP_TOOLS_COMPARE_SPREAD_FILE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"

namespace lockstep {

struct SpreadRun {
  std::string run;
  uint64_t seed = 0;
  int64_t step = 0;
  double loss = 0;
};

struct Spread {
  static constexpr int64_t kFormatVersion = 1;

  std::string recipe;           // its name
  std::string trajectory_text;  // without the seed
  std::string tokenizer;        // hash: nats a token of another mean another
  int64_t tokens = 0;           // of each evaluation
  int64_t samples = 0;
  std::vector<SpreadRun> runs;

  std::vector<double> Losses() const;
};

// The keys of a trajectory that are not the seed; the identity is SHA-256 of
// that, so it is one for all seeds.
std::string WithoutSeed(const std::string& trajectory_text);
std::string IdentityOf(const std::string& text_without_seed);

// {"format_version", "recipe", "identity", "mean", "sd", "sd_interval", "runs":
// [{"run", "seed", "step", "loss", "loss_bits"}], ...}; sd and its 95 %
// interval (chi-square) are null for one run.
nlohmann::ordered_json SpreadJson(const Spread& spread);

// InputError for what is no such file, was changed (the identity or a number's
// bits do not hold), or has fewer than two runs.
absl::StatusOr<Spread> ReadSpread(FileSystem& fs, const std::string& path);

// The keys in which `manifest` is another recipe than the spread's: empty where
// it is no proxy but the same.
std::vector<std::string> KeysOtherThan(const Spread& spread,
                                       const Manifest& manifest);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_SPREAD_FILE_H_
