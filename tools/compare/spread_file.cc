#include "tools/compare/spread_file.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "tools/compare/distributions.h"
#include "tools/compare/welch.h"
#include "tools/foreign_json.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

Json RunsJson(const Spread& spread) {
  Json runs = Json::array();
  for (const SpreadRun& run : spread.runs) {
    runs.push_back({{"run", run.run},
                    {"seed", run.seed},
                    {"step", run.step},
                    {"loss", run.loss},
                    {"loss_bits", BitsOf(run.loss)}});
  }
  return runs;
}

absl::Status NoSpread(const std::string& path, const std::string& what) {
  return InputError(absl::StrCat("this is no spread of seeds: ", what), path,
                    "give a file that `lockstep seeds RECIPE --out FILE` "
                    "wrote, unchanged");
}

template <typename T>
bool Get(const Json& json, const char* key, T& out) {
  const auto found = json.find(key);
  if (found == json.end()) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!found->is_number()) return false;
  } else {
    if (!found->is_number_integer()) return false;
  }
  out = found->template get<T>();
  return true;
}

bool GetRun(const Json& json, SpreadRun& run) {
  std::string bits;
  return json.is_object() && Get(json, "run", run.run) &&
         Get(json, "seed", run.seed) && Get(json, "step", run.step) &&
         Get(json, "loss", run.loss) && Get(json, "loss_bits", bits) &&
         bits == BitsOf(run.loss);
}

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::map<std::string, std::string> Keys(const std::string& text) {
  std::map<std::string, std::string> keys;
  for (const std::string& line : LinesOf(text)) {
    const size_t at = line.find(" = ");
    if (at != std::string::npos) keys[line.substr(0, at)] = line.substr(at + 3);
  }
  return keys;
}

}  // namespace

std::vector<double> Spread::Losses() const {
  std::vector<double> losses;
  for (const SpreadRun& run : runs) losses.push_back(run.loss);
  return losses;
}

std::string WithoutSeed(const std::string& trajectory_text) {
  std::string text;
  for (const std::string& line : LinesOf(trajectory_text)) {
    if (!line.starts_with("seed = ")) absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string IdentityOf(const std::string& text_without_seed) {
  return Sha256Hex(text_without_seed);
}

Json SpreadJson(const Spread& spread) {
  const std::vector<double> losses = spread.Losses();
  const ArmStatistics all = StatisticsOf(losses);
  Json json;
  json["format_version"] = Spread::kFormatVersion;
  json["recipe"] = spread.recipe;
  json["identity"] = IdentityOf(spread.trajectory_text);
  json["seeds"] = spread.runs.size();
  json["mean"] = all.mean;
  json["sd"] = nullptr;
  json["sd_interval"] = nullptr;
  if (all.variance_dof > 0) {
    const double squares = all.variance * all.variance_dof;
    const auto sd = [&](double probability) {
      return std::sqrt(squares /
                       ChiSquareQuantile(probability, all.variance_dof));
    };
    json["sd"] = std::sqrt(all.variance);
    json["sd_interval"] = {sd(1 - kSignificance / 2), sd(kSignificance / 2)};
  }
  json["evaluation"] = {{"samples", spread.samples}, {"tokens", spread.tokens}};
  json["tokenizer"] = spread.tokenizer;
  json["runs"] = RunsJson(spread);
  json["trajectory_text"] = spread.trajectory_text;
  return json;
}

absl::StatusOr<Spread> ReadSpread(FileSystem& fs, const std::string& path) {
  if (!fs.Exists(path)) return NoSpread(path, "there is no file");
  LS_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
  const auto json = ParseForeign<Json>(text);
  int64_t version = 0;
  if (!json.is_object() || !Get(json, "format_version", version)) {
    return NoSpread(path, "not such a JSON object");
  }
  if (version != Spread::kFormatVersion) {
    return NoSpread(path, absl::StrCat("its format is of version ", version));
  }
  Spread spread;
  std::string identity;
  const Json evaluation = json.value("evaluation", Json::object());
  const Json runs = json.value("runs", Json::array());
  if (!Get(json, "recipe", spread.recipe) || !Get(json, "identity", identity) ||
      !Get(json, "trajectory_text", spread.trajectory_text) ||
      !Get(json, "tokenizer", spread.tokenizer) || !evaluation.is_object() ||
      !Get(evaluation, "samples", spread.samples) ||
      !Get(evaluation, "tokens", spread.tokens) || !runs.is_array()) {
    return NoSpread(path, "a field is missing or of another type");
  }
  if (identity != IdentityOf(spread.trajectory_text)) {
    return NoSpread(path, "its identity is not that of its recipe");
  }
  for (const Json& run : runs) {
    if (!GetRun(run, spread.runs.emplace_back())) {
      return NoSpread(path, absl::StrCat("run ", spread.runs.size(),
                                         " lacks a field, or its loss is not "
                                         "what its bits say"));
    }
  }
  if (spread.runs.size() < 2) {
    return NoSpread(path, "fewer than two runs have no spread");
  }
  return spread;
}

std::vector<std::string> KeysOtherThan(const Spread& spread,
                                       const Manifest& manifest) {
  const std::string text = WithoutSeed(manifest.recipe.trajectory_text);
  auto ours = Keys(text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : Keys(spread.trajectory_text)) {
    const auto found = ours.find(key);
    if (found == ours.end() || found->second != value) keys.push_back(key);
    if (found != ours.end()) ours.erase(found);
  }
  for (const auto& [key, value] : ours) keys.push_back(key);
  return keys;
}

}  // namespace lockstep
