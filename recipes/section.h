// How a component declares and checks its own section of a recipe.
//
//   struct BatchConfig { int64_t global = 16; int64_t micro = 2; };
//   void DescribeSection(Section& s, BatchConfig& c) {
//     s.Int("global", c.global, {.min = 1, .help = "samples a step"});
//     s.Int("micro", c.micro, {.min = 1, .help = "samples a micro-batch",
//                              .trajectory = false});
//     s.Require(c.global % c.micro == 0, "micro", "does not divide global",
//               std::to_string(std::gcd(c.global, c.micro)));
//   }
//   const BatchConfig batch = recipe.Read<BatchConfig>("batch");
//
// One function reads, checks, documents and hashes, so that a key cannot be
// read and forgotten in one of the others. The struct's initial values are the
// defaults; a default outside its own range makes the key required. A wrong
// value adds an error to the recipe and leaves the default in place, so that
// all sections are read and all errors are told together; no config may be used
// before Recipe::Finish() is OK.
//
// Not a general parser: the shape of a section is keys of plain values, lists
// of them, and arrays of tables (Each).

#ifndef RECIPES_SECTION_H_
#define RECIPES_SECTION_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

class RecipeState;
struct KeyPlan;

// `help` is one phrase and may not be empty. `trajectory` says whether another
// value may change the run's bits; absent means the section's own (true unless
// SetTrajectory says otherwise).
struct KeyOptions {
  std::string help;
  std::optional<bool> trajectory = std::nullopt;
};

// Bounds are inclusive.
struct IntOptions {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
  std::string help;
  std::optional<bool> trajectory = std::nullopt;
};

// Inclusive bounds, and exclusive ones (`above`, `below`); never inf or NaN,
// and never closer to zero than the smallest normal binary64.
struct RealOptions {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  double above = -std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();
  std::string help;
  std::optional<bool> trajectory = std::nullopt;
};

// `min` and `max` bound the items, the others their count.
struct IntListOptions {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t min_count = 0;
  int64_t max_count = std::numeric_limits<int64_t>::max();
  std::string help;
  std::optional<bool> trajectory = std::nullopt;
};

struct RealListOptions {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  double above = -std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();
  int64_t min_count = 0;
  int64_t max_count = std::numeric_limits<int64_t>::max();
  std::string help;
  std::optional<bool> trajectory = std::nullopt;
};

class Section {
 public:
  // Made by Recipe::Read and Each only.
  Section(RecipeState& state, std::string path, bool trajectory);
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // The default of `trajectory` for the keys described after it.
  void SetTrajectory(bool trajectory) { trajectory_ = trajectory; }

  // Each writes to `value` only what passed its checks. An optional without a
  // value stands as `none` in the resolved text.
  void Bool(std::string_view key, bool& value, const KeyOptions& options);
  void Bool(std::string_view key, std::optional<bool>& value,
            const KeyOptions& options);
  void Int(std::string_view key, int64_t& value, const IntOptions& options);
  void Int(std::string_view key, std::optional<int64_t>& value,
           const IntOptions& options);
  // A TOML integer is accepted where binary64 holds it exactly.
  void Real(std::string_view key, double& value, const RealOptions& options);
  void Real(std::string_view key, std::optional<double>& value,
            const RealOptions& options);
  void String(std::string_view key, std::string& value,
              const KeyOptions& options);
  void String(std::string_view key, std::optional<std::string>& value,
              const KeyOptions& options);
  // One of a list of words.
  void Choice(std::string_view key, std::string& value,
              const std::vector<std::string>& allowed,
              const KeyOptions& options);
  // A path. `value` becomes absolute or relative to the process: a relative
  // one counts from the folder of the file that says it, or of the recipe where
  // --set says it. The resolved text keeps what was written.
  void Path(std::string_view key, std::string& value,
            const KeyOptions& options);
  void Path(std::string_view key, std::optional<std::string>& value,
            const KeyOptions& options);
  void IntList(std::string_view key, std::vector<int64_t>& value,
               const IntListOptions& options);
  void RealList(std::string_view key, std::vector<double>& value,
                const RealListOptions& options);

  // [[section.key]]: DescribeSection(Section&, T&) once an entry. What the
  // recipe gives replaces the default entries as a whole.
  template <typename T>
  void Each(std::string_view key, std::vector<T>& values,
            const KeyOptions& options);

  // Before the key is described: `values` of it are known and `why` not
  // accepted ("not built yet"). No values: the whole key is.
  void Reserved(std::string_view key, const std::vector<std::string>& values,
                std::string_view why);

  // A rule across fields: unless `holds`, an error at `key`'s file and line.
  // Dropped where that key is wrong already. `nearest`: a valid value, or "".
  void Require(bool holds, std::string_view key, std::string_view message,
               std::string_view nearest = "");

  // Whether file or command line set the key, whatever its value.
  bool Given(std::string_view key) const;

  // "optimizer", "data.source.0"; empty for the top level.
  const std::string& path() const { return path_; }

 private:
  using Describe = std::function<void(Section&)>;

  std::string PathOf(std::string_view key) const;
  bool InTrajectory(std::optional<bool> trajectory) const {
    return trajectory.value_or(trajectory_);
  }
  // Declares, reads and checks one key.
  void Handle(std::string_view key, const KeyPlan& plan);
  void ReadBool(std::string_view key, const std::optional<bool>& initial,
                const KeyOptions& options,
                const std::function<void(bool)>& set);
  void ReadInt(std::string_view key, const std::optional<int64_t>& initial,
               const IntOptions& options,
               const std::function<void(int64_t)>& set);
  void ReadReal(std::string_view key, const std::optional<double>& initial,
                const RealOptions& options,
                const std::function<void(double)>& set);
  void ReadString(std::string_view key,
                  const std::optional<std::string>& initial,
                  const KeyOptions& options, std::string_view type,
                  const std::function<void(std::string)>& set);
  // The number of entries given; -1: none, or not an array of tables.
  int64_t EachCount(std::string_view key, const KeyOptions& options);
  void EachEntry(std::string_view key, size_t index, const Describe& describe);
  // Describes an entry for help and suggestions only.
  void EachSample(std::string_view key, const Describe& describe);

  RecipeState& state_;
  const std::string path_;
  bool trajectory_;
};

template <typename T>
void Section::Each(std::string_view key, std::vector<T>& values,
                   const KeyOptions& options) {
  const int64_t count = EachCount(key, options);
  if (count >= 0) {
    values.assign(static_cast<size_t>(count), T());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    EachEntry(key, i,
              [&](Section& entry) { DescribeSection(entry, values[i]); });
  }
  T sample;
  EachSample(key, [&](Section& entry) { DescribeSection(entry, sample); });
}

}  // namespace lockstep

#endif  // RECIPES_SECTION_H_
