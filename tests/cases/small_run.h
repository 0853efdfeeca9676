// Whole runs of a second's tenth: a model of 26 thousand parameters over token
// files whose every sample is known.
//
// What it is: a recipe, its data, and what a run's steps consumed, checked
// against the `data` fingerprint that the run itself wrote. What it is not: a
// faster copy of the trainer: TrainRig trains. Why so: a case of these tests
// needs many runs, and has to say which sample came when.
#ifndef LOCKSTEP_TESTS_CASES_SMALL_RUN_H_
#define LOCKSTEP_TESTS_CASES_SMALL_RUN_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "tests/train/train_rig.h"

namespace lockstep {

inline constexpr int64_t kSmallSequence = 16;  // tokens of a sample

// Prefix of a token file of these documents, in the test's folder.
std::string WriteDocuments(const std::string& name,
                           const std::vector<std::vector<int32_t>>& documents,
                           int64_t vocab = 257);
// Documents of 3 to 31 tokens below 257; another `salt` has others.
std::vector<std::vector<int32_t>> UnevenDocuments(int64_t count, int64_t salt);

// A token file of `samples` training samples in documents of 20 tokens, and two
// samples' worth of one more document, which every run of these holds out.
// Another `salt` is other tokens.
std::string WriteSamples(const std::string& name, int64_t samples,
                         int64_t salt = 0);

// "[[data.source]]" with this path, and `more` lines.
std::string SourceOf(const std::string& prefix, const std::string& more = "");

// debug.toml with a tiny model, 12 steps of 4 samples in micro-batches of 2,
// and `toml` behind "[data]".
std::string WriteSmallRecipe(const std::string& name, const std::string& toml);

// The same over one source of `samples` samples.
std::string SmallRecipe(const std::string& name, int64_t samples);

// A rig that takes all sizes but the steps from the recipe.
TrainRig SmallRig(const std::string& name);

// Lines of metrics.jsonl, parsed.
std::vector<nlohmann::json> Lines(const TrainRig& rig);

// The samples of each step in metrics.jsonl, read from the data again, and
// expected to have the step's `data` fingerprint.
std::vector<std::vector<SampleLocation>> Consumed(const TrainRig& rig,
                                                  const RigOptions& options);

// Expects that `options`, stopped after each of `stops` in turn, ends in the
// unbroken run's metrics and unseed; returns the lines compared.
int64_t ExpectUnbroken(const std::string& name, const RigOptions& options,
                       const std::vector<int64_t>& stops,
                       const TrainRig& unbroken);

// Index of a checkpoint of the run.
nlohmann::json IndexOf(const TrainRig& rig, int64_t step);
// name -> what the index says of the entry: dtype, shape, fingerprint, hash.
std::map<std::string, std::string> EntriesOf(const TrainRig& rig, int64_t step);

// Bytes of one entry of a checkpoint.
std::string EntryBytes(const TrainRig& rig, int64_t step,
                       const std::string& entry);
// A counter of a checkpoint, such as run/cursor.
uint64_t CounterOf(const TrainRig& rig, int64_t step, const std::string& entry);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_CASES_SMALL_RUN_H_
