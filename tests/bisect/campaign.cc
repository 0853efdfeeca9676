#include "tests/bisect/campaign.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Numbers below `n`, each its own function of the case.
class Dice {
 public:
  explicit Dice(int number) : number_(static_cast<uint64_t>(number)) {}
  size_t operator()(size_t n) {
    const uint64_t word = SplitMix(number_ * 1000 + ++drawn_);
    return static_cast<size_t>(word % n);
  }
  template <typename T>
  const T& Of(const std::vector<T>& all) {
    return all[(*this)(all.size())];
  }

 private:
  // Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
  static uint64_t SplitMix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  const uint64_t number_;
  uint64_t drawn_ = 0;
};

struct Layout {
  std::string name;
  int64_t ranks;
  Words sets;
};

const std::vector<Layout>& Layouts() {
  static const auto& layouts = *new std::vector<Layout>{
      {"one", 1, {}},
      {"data", 2, {"parallel.data=2"}},
      {"tensor", 2, {"parallel.tensor=2", "guarantee=layout_invariant"}},
      {"sequence", 2, {"parallel.tensor=2", "parallel.sequence=true"}},
      {"pipeline", 2, {"parallel.pipeline=2", "guarantee=layout_invariant"}},
      {"recompute", 1, {"train.recompute=true"}}};
  return layouts;
}

struct Place {
  std::string scope, operation, phase;
};

Place PlaceOf(Dice& dice) {
  const std::string phase = dice(2) == 0 ? "forward" : "backward";
  const size_t kind = dice(8);
  if (kind == 0) return {"embeddings", "lookup", "forward"};
  if (kind == 1) return {"lm_head", "logits", phase};
  if (kind == 2) return {"norm_f", "norm", phase};
  if (kind == 3) {
    const std::string layer = absl::StrCat("layers.", dice(5));
    return {layer, dice(2) == 0 ? "norm" : "residual", phase};
  }
  const std::vector<std::pair<int, Words>> mixers = {
      {0, {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj"}},
      {1, {"up_proj", "squared_relu", "down_proj"}},
      {2, {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj"}},
      {3, {"qkv_proj", "attention", "o_proj"}},
      {4, {"up_proj", "squared_relu", "down_proj"}}};
  const auto& [layer, operations] = dice.Of(mixers);
  if (kind == 4) {
    const std::string weight = layer == 1 || layer == 4 ? "up_proj"
                               : layer == 3             ? "o_proj"
                                                        : "in_proj";
    return {
        absl::StrCat("backbone.layers.", layer, ".mixer.", weight, ".weight"),
        "gradient", "reduction"};
  }
  return {absl::StrCat("layers.", layer, ".mixer"), dice.Of(operations), phase};
}

std::string FaultAt(const Place& place, const std::string& precision,
                    int64_t step, Dice& dice) {
  const std::string at =
      absl::StrCat(",step=", step, ",at=", place.scope, ".", place.operation,
                   ".", place.phase, ",element=", dice(400));
  const size_t kind = dice(6);
  if (kind == 0) return "kind=swap_rows" + at;
  if (kind == 1) return absl::StrCat("kind=spike,factor=1.5", at);
  const size_t bit = precision == "fp32" ? 12 + dice(14) : 3 + dice(8);
  return absl::StrCat("kind=flip,bit=", bit, at);
}

bool Named(const Json& json, int64_t step, const Place& place) {
  return json["verdict"] == "operation" && json["step"] == step &&
         json["scope"] == place.scope && json["operation"] == place.operation &&
         json["phase"] == place.phase && json["repeatable"] == true &&
         json["replays"] <= 2;
}

}  // namespace

const TrainRig& Campaign::CleanRun(const std::string& name,
                                   const RigOptions& options) {
  std::unique_ptr<TrainRig>& rig = clean_[name];
  if (rig == nullptr) {
    rig = std::make_unique<TrainRig>("campaign_" + name);
    rig->Unseed(options);
  }
  return *rig;
}

CampaignCase Campaign::Run(int number) {
  Dice dice(number);
  const Layout& layout = dice.Of(Layouts());
  const std::string precision = dice.Of(Words{"fp32", "bf16", "fp16"});
  RigOptions options = {
      .sets = layout.sets, .threads = 1, .ranks = layout.ranks};
  options.sets.insert(options.sets.end(),
                      {"checkpoint.every=2", "precision.mode=" + precision,
                       "model.hidden_dropout=0.1"});
  const auto step = static_cast<int64_t>(2 + dice(5));
  const Place place = PlaceOf(dice);
  CampaignCase result = {.fault = FaultAt(place, precision, step, dice),
                         .about = {}};
  result.about = absl::StrCat(number, ": ", layout.name, ", ", precision, ", ",
                              result.fault);
  const TrainRig& clean =
      CleanRun(absl::StrCat(layout.name, "_", precision), options);
  options.faults = {result.fault};
  const TrainRig broken("campaign_broken");
  const RigResult trained = broken.Train(options);
  EXPECT_TRUE(trained.status.ok()) << result.about << trained.status.message();
  result.matters = broken.Metrics() != clean.Metrics();
  const auto bisected = Bisect(
      *PosixFileSystem(), {.a = clean.dir(), .b = broken.dir(), .threads = 1});
  EXPECT_TRUE(bisected.ok()) << result.about << bisected.status().message();
  if (!bisected.ok()) return result;
  const std::string said = BisectJson(*bisected);
  result.named = result.matters && Named(Json::parse(said), step, place);
  result.false_alarm = !result.matters && !bisected->equal();
  if (!result.named) result.said = said;
  return result;
}

}  // namespace lockstep
