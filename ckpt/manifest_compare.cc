#include "ckpt/manifest_compare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "ckpt/curve_keys.h"
#include "ckpt/difference_table.h"
#include "ckpt/uneven_shares.h"
#include "ckpt/value_changes.h"
#include "determinism/check.h"

namespace lockstep {
namespace {

std::string WithoutCuts(std::string pattern) {
  pattern.erase(std::remove(pattern.begin(), pattern.end(), '|'),
                pattern.end());
  return pattern;
}

const char* BoolText(bool value) { return value ? "true" : "false"; }

class Comparison {
 public:
  // No rung: a fork.
  Comparison(const Manifest& saved, const Manifest& current,
             std::optional<Guarantee> rung)
      : saved_(saved), current_(current), rung_(rung) {}

  std::vector<ManifestDifference> Run() {
    Code();
    Machine();
    Layout();
    Data();
    Recipe();
    std::vector<ManifestDifference> result;
    for (auto& [key, difference] : differences_) {
      result.push_back(std::move(difference));
    }
    return result;
  }

 private:
  void Add(const std::string& key, const std::string& saved,
           const std::string& current, std::string_view row_key = "") {
    if (saved == current) return;
    const DifferenceRow* row =
        FindDifferenceRow(row_key.empty() ? std::string_view(key) : row_key);
    LS_CHECK(row != nullptr) << key;
    const Verdict verdict =
        rung_ ? row->by_rung[static_cast<size_t>(*rung_)] : row->fork;
    const auto [at, is_new] = differences_.try_emplace(
        key, ManifestDifference{key, saved, current, verdict,
                                std::string(row->why)});
    // The recipe and a field of its own may say the same thing.
    if (!is_new) at->second.verdict = std::max(at->second.verdict, verdict);
  }

  void Code() {
    const Manifest::Code& s = saved_.code;
    const Manifest::Code& c = current_.code;
    Add("compiler", saved_.compiler, current_.compiler);
    if (s.binary_sha256 == c.binary_sha256 && !s.binary_sha256.empty()) {
      return;  // the same bytes are the same code, whatever the stamp says
    }
    Add("commit", s.commit, c.commit);
    if (s.dirty || c.dirty) {
      Add("dirty",
          std::string("dirty ") + BoolText(s.dirty) + ", binary " +
              s.binary_sha256,
          std::string("dirty ") + BoolText(c.dirty) + ", binary " +
              c.binary_sha256);
    }
    Add("binary", s.binary_sha256, c.binary_sha256,
        differences_.empty() ? "binary" : kExplainedBinary);
  }

  void AddChanges(const std::string& prefix, const Values& saved,
                  const Values& current) {
    for (const ValueChange& change : ChangesBetween(saved, current)) {
      Add(prefix + change.key, change.saved, change.current);
    }
  }

  void Machine() {
    AddChanges("libraries.", saved_.libraries, current_.libraries);
    AddChanges("hardware.", saved_.hardware, current_.hardware);
    Add("order", saved_.order, current_.order);
    Add("image_digest", saved_.image_digest, current_.image_digest);
    Add("faults", absl::StrJoin(saved_.faults, ";"),
        absl::StrJoin(current_.faults, ";"));
  }

  void Layout() {
    const auto add = [this](const char* key, int64_t saved, int64_t current,
                            std::string_view row = "") {
      Add(std::string("layout.") + key, std::to_string(saved),
          std::to_string(current), row);
    };
    const Manifest::Layout& s = saved_.layout;
    const Manifest::Layout& c = current_.layout;
    add("world", s.world, c.world);
    add("data", s.data, c.data);
    add("tensor", s.tensor, c.tensor);
    add("pipeline", s.pipeline, c.pipeline);
    const bool uneven = HasUnevenShares(saved_) || HasUnevenShares(current_);
    add("micro_batch", s.micro_batch, c.micro_batch,
        uneven ? kUnevenShares : "");
    add("threads", s.threads, c.threads);
  }

  void Data() {
    const auto &s = saved_.tokenizer, &c = current_.tokenizer;
    Add("tokenizer", s.name + " " + s.hash, c.name + " " + c.hash);
    const size_t count = std::max(saved_.data.size(), current_.data.size());
    for (size_t i = 0; i < count; ++i) {
      if (i >= saved_.data.size() || i >= current_.data.size()) {
        Add("data.files", std::to_string(saved_.data.size()) + " files",
            std::to_string(current_.data.size()) + " files");
        return;
      }
      DataFile(saved_.data[i], current_.data[i]);
    }
  }

  void DataFile(const Manifest::DataFile& s, const Manifest::DataFile& c) {
    // The hash first: a message cuts long values, and a path may be long.
    const auto text = [](const Manifest::DataFile& file) {
      return "SHA-256 " + file.sha256 + ", " + std::to_string(file.size) +
             " bytes, " + file.path;
    };
    if (s.sha256 == c.sha256 && s.size == c.size) {
      Add("data.path." + s.path, s.path, c.path, kSameFileElsewhere);
    } else if (s.path == c.path) {
      Add("data.content." + s.path, text(s), text(c));
    } else {
      Add("data.files", text(s), text(c));
    }
  }

  void Recipe() {
    const Values saved = ParseValueLines(saved_.recipe.trajectory_text);
    const Values current = ParseValueLines(current_.recipe.trajectory_text);
    for (const ValueChange& change : ChangesBetween(saved, current)) {
      RecipeKey(change.key, change.saved, change.current);
    }
    for (const ValueChange& change :
         ChangesBetween(ParseValueLines(saved_.recipe.text),
                        ParseValueLines(current_.recipe.text))) {
      if (saved.contains(change.key) || current.contains(change.key)) continue;
      Add(change.key, change.saved, change.current,
          OwnRowOr(change.key, kOtherKeys));
    }
    Add("seed", std::to_string(saved_.root_seed),
        std::to_string(current_.root_seed));
    Add("guarantee", NameOf(saved_.guarantee), NameOf(current_.guarantee));
    RecipeKey("schedule.length_samples",
              std::to_string(saved_.schedule_length_samples),
              std::to_string(current_.schedule_length_samples));
  }

  void RecipeKey(const std::string& key, const std::string& saved,
                 const std::string& current) {
    if (key == "model.pattern" && WithoutCuts(saved) == WithoutCuts(current)) {
      Add(key, saved, current, kPatternCuts);
      return;
    }
    std::string_view row_key = kOtherTrajectoryKeys;
    if (FollowsFromAnotherKey(key, saved_.recipe.text, current_.recipe.text)) {
      row_key = kExplainedCurve;
    } else if (const DifferenceRow* row = FindDifferenceRow(key)) {
      row_key = row->key;
    }
    Add(key, saved, current, row_key);
  }

  const Manifest& saved_;
  const Manifest& current_;
  const std::optional<Guarantee> rung_;
  std::map<std::string, ManifestDifference> differences_;
};

}  // namespace

std::vector<ManifestDifference> CompareManifests(const Manifest& saved,
                                                 const Manifest& current,
                                                 Guarantee guarantee) {
  return Comparison(saved, current, guarantee).Run();
}

std::vector<ManifestDifference> CompareForFork(const Manifest& parent,
                                               const Manifest& current) {
  return Comparison(parent, current, std::nullopt).Run();
}

}  // namespace lockstep
