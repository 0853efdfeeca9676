#include "tools/run_faults.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ckpt/bounded_read.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/foreign_json.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::string PathOf(const std::string& dir) { return dir + "/faults.json"; }

// A file of before launches were told apart holds those of the only one.
Json LaunchesOf(const Json& json) {
  if (json.is_null()) return Json::array();
  if (json.contains("launches")) return json["launches"];
  return Json::array(
      {{{"from_step", 0}, {"faults", json.value("faults", Json::array())}}});
}

// Launches, each with a step and texts, as far as they have these.
bool IsSound(const Json& launches) {
  if (!launches.is_array()) return false;
  for (const Json& launch : launches) {
    if (!launch.is_object()) return false;
    const auto step = launch.find("from_step"), faults = launch.find("faults");
    if (step != launch.end() && !step->is_number_integer()) return false;
    if (faults == launch.end()) continue;
    if (!faults->is_array()) return false;
    for (const Json& fault : *faults) {
      if (!fault.is_string()) return false;
    }
  }
  return true;
}

// Null where there is no file.
absl::StatusOr<Json> ReadFile(FileSystem& fs, const std::string& dir) {
  if (!fs.Exists(PathOf(dir))) return Json();
  LS_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(fs, PathOf(dir)));
  auto json = ParseForeign<Json>(text);
  if (json.is_object() && IsSound(LaunchesOf(json))) return json;
  return InputError("this is not what a launch with faults writes", PathOf(dir),
                    "restore it, or remove it to go on without");
}

int64_t FromStep(const Json& launch) {
  return launch.value("from_step", int64_t{0});
}

bool ChangesNumbers(FaultKind kind) {
  return kind <= FaultKind::kScale || kind >= FaultKind::kSkipSample;
}

}  // namespace

absl::StatusOr<std::vector<FaultSpec>> ReadFaults(
    std::vector<std::string>& texts) {
  if (const char* variable = std::getenv("LOCKSTEP_FAULT")) {
    for (const auto text : absl::StrSplit(variable, ';', absl::SkipEmpty())) {
      texts.emplace_back(text);
    }
  }
  std::vector<FaultSpec> specs;
  for (const std::string& text : texts) {
    LS_ASSIGN_OR_RETURN(FaultSpec spec, ParseFault(text));
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::Status KeepFaults(FileSystem& fs, const std::string& dir,
                        int64_t from_step,
                        const std::vector<std::string>& faults) {
  LS_ASSIGN_OR_RETURN(const Json before, ReadFile(fs, dir));
  if (faults.empty() && before.is_null()) return absl::OkStatus();
  Json launches = Json::array();
  for (const Json& launch : LaunchesOf(before)) {
    if (FromStep(launch) < from_step) launches.push_back(launch);
  }
  launches.push_back({{"from_step", from_step}, {"faults", faults}});
  const Json json = {{"faults", faults}, {"launches", launches}};
  return WriteFileAtomically(fs, PathOf(dir), json.dump(2) + "\n");
}

absl::StatusOr<std::vector<FaultSpec>> KeptFaults(FileSystem& fs,
                                                  const std::string& dir) {
  LS_ASSIGN_OR_RETURN(const Json json, ReadFile(fs, dir));
  std::vector<FaultSpec> specs;
  for (const Json& launch : LaunchesOf(json)) {
    const int64_t from_step = FromStep(launch);
    for (FaultSpec& earlier : specs) {
      earlier.last_step = std::min(earlier.last_step, from_step);
    }
    const auto texts = launch.value("faults", std::vector<std::string>());
    for (size_t i = 0; i < texts.size(); ++i) {
      LS_ASSIGN_OR_RETURN(FaultSpec spec, ParseFault(texts[i]));
      if (!ChangesNumbers(spec.kind)) continue;
      spec.index = i;
      spec.first_step = from_step + 1;
      // "The first time" is the launch's, wherever a replay begins.
      if (spec.when == FaultSpec::When::kOnce && !spec.step && !spec.sample) {
        spec.step = spec.first_step;
      }
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

absl::StatusOr<std::vector<std::string>> FaultNotes(FileSystem& fs,
                                                    const std::string& dir,
                                                    int64_t from, int64_t to) {
  LS_ASSIGN_OR_RETURN(const std::vector<FaultSpec> specs, KeptFaults(fs, dir));
  std::vector<std::string> notes;
  for (const FaultSpec& spec : specs) {
    if (spec.first_step > to || spec.last_step < from) continue;
    notes.push_back(absl::StrCat("the run was broken on purpose, and ",
                                 spec.replayed ? "so is the replay: --fault "
                                               : "the replay is not: --fault ",
                                 spec.text));
  }
  return notes;
}

absl::StatusOr<std::vector<std::string>> UnmetByAll(
    Communicator& world, const std::vector<std::string>& faults,
    const std::vector<std::string>& mine) {
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                      GatherTexts(world, absl::StrJoin(mine, "\n")));
  std::vector<std::set<std::string>> unfired;
  for (const std::string& text : texts) {
    unfired.push_back(absl::StrSplit(text, '\n'));
  }
  std::vector<std::string> result;
  for (const std::string& fault : faults) {
    LS_ASSIGN_OR_RETURN(const FaultSpec spec, ParseFault(fault));
    const auto unmet = [&](const std::set<std::string>& rank) {
      return rank.contains(spec.text);
    };
    if (spec.rank ? unmet(unfired[static_cast<size_t>(*spec.rank)])
                  : std::all_of(unfired.begin(), unfired.end(), unmet)) {
      result.push_back(spec.text);
    }
  }
  return result;
}

}  // namespace lockstep
