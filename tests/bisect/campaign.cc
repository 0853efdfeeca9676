#include "tests/bisect/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "model/model_layout.h"
#include "tests/bisect/campaign_plan.h"
#include "tools/bisect/bisect.h"
#include "tools/stored_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

bool Named(const Json& json, const Plan& plan) {
  const Place& place = plan.place;
  const auto is = [&](const char* key, const auto& want) {
    return json.value(key, Json()) == Json(want);
  };
  if (!is("verdict", plan.verdict) || !is("repeatable", true)) return false;
  if (!is("step", plan.step) || json["replays"] > 2) return false;
  if (!plan.ranks.empty() && !is("ranks", plan.ranks)) return false;
  if (plan.sample && !is("sample", *plan.sample)) return false;
  if (!plan.producer.operation.empty()) {
    const std::string producer = json["producer"].dump();
    return producer.find(plan.producer.scope) != std::string::npos &&
           producer.find(plan.producer.operation) != std::string::npos;
  }
  if (place.operation.empty()) return true;
  return (place.scope.empty() || is("scope", place.scope)) &&
         is("operation", place.operation) && is("phase", place.phase) &&
         is("tensor", plan.tensor);
}

const Layout& LayoutCalled(const std::string& name) {
  return *std::find_if(Layouts().begin(), Layouts().end(),
                       [&](const Layout& l) { return l.name == name; });
}

}  // namespace

struct Campaign::Clean {
  explicit Clean(const std::string& name) : rig(name) {}

  void Train(const RigOptions& options) {
    FileSystem& fs = *PosixFileSystem();
    unseed = rig.Unseed(options);
    metrics = rig.Metrics();
    const auto manifest = ManifestOfStep(fs, rig.dir(), 1);
    ASSERT_TRUE(manifest.ok()) << manifest.status().message();
    const auto config = StoredConfig(fs, rig.dir(), *manifest, {});
    ASSERT_TRUE(config.ok()) << config.status().message();
    auto opened = OpenStoredData(fs, rig.dir(), *manifest, *config);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    data = *std::move(opened);
    const auto stages = StagesOf(config->model, config->data.sequence, 2);
    ASSERT_TRUE(stages.ok()) << stages.status().message();
    cut = stages->back().begin;
  }

  TrainRig rig;
  std::string unseed;
  std::vector<std::string> metrics;
  std::unique_ptr<Dataset> data;
  int64_t cut = 0;
};

const Campaign::Clean& Campaign::CleanRun(const std::string& name,
                                          const RigOptions& options) {
  std::shared_ptr<const Clean>& kept = clean_[name];
  if (kept == nullptr) {
    auto clean = std::make_shared<Clean>("campaign_" + name);
    clean->Train(options);
    kept = clean;
  }
  return *kept;
}

std::string Campaign::OptionsOf(int number, RigOptions& options) {
  Dice dice(number);
  Words names = LayoutsFor(number), precisions = PrecisionsFor(number);
  if (names.empty()) {
    for (const Layout& layout : Layouts()) names.push_back(layout.name);
  }
  if (precisions.empty()) precisions = {"fp32", "bf16", "fp16"};
  const Layout& layout = LayoutCalled(dice.Of(names));
  const std::string precision = dice.Of(precisions);
  options = {.sets = layout.sets, .threads = 1, .ranks = layout.ranks};
  options.sets.insert(options.sets.end(),
                      {"checkpoint.every=2", "precision.mode=" + precision,
                       "model.hidden_dropout=0.1"});
  return absl::StrCat(layout.name, "_", precision);
}

CampaignCase Campaign::Run(int number) {
  RigOptions options;
  const std::string name = OptionsOf(number, options);
  Dice dice(number + 1'000'000);
  const size_t cut = name.find('_');
  const Layout& layout = LayoutCalled(name.substr(0, cut));
  const Clean& clean = CleanRun(name, options);
  const auto plan = PlanOf(number, {.layout = layout,
                                    .precision = name.substr(cut + 1),
                                    .step = static_cast<int64_t>(2 + dice(5)),
                                    .data = *clean.data,
                                    .cut = clean.cut,
                                    .dice = dice});
  EXPECT_TRUE(plan.ok()) << number << plan.status().message();
  if (!plan.ok()) return {};
  CampaignCase result = {
      .about = absl::StrCat(number, ": ", name, ", ", plan->faults.front()),
      .kind = plan->kind};
  const TrainRig broken("campaign_broken");
  if (plan->resumed_at > 0) {
    RigOptions first = options;
    first.until = plan->resumed_at;
    broken.Unseed(first);
  }
  options.faults = plan->faults;
  const RigResult trained = broken.Train(options);
  EXPECT_TRUE(trained.status.ok()) << result.about << trained.status.message();
  const std::vector<std::string> metrics = broken.Metrics();
  result.matters = metrics != clean.metrics || trained.unseed != clean.unseed;
  if (!result.matters) {
    result.proof =
        absl::StrCat(metrics.size(), " lines equal, state ", trained.unseed);
  }
  const auto bisected =
      Bisect(*PosixFileSystem(),
             {.a = clean.rig.dir(), .b = broken.dir(), .threads = 1});
  EXPECT_TRUE(bisected.ok()) << result.about << bisected.status().message();
  if (!bisected.ok()) return result;
  const std::string said = BisectJson(*bisected);
  result.named = result.matters && Named(Json::parse(said), *plan);
  result.false_alarm = !result.matters && !bisected->equal();
  if (!result.named) result.said = said;
  return result;
}

std::string Campaign::AlarmOfEqualRuns(int number) {
  RigOptions options;
  const std::string name = OptionsOf(number, options);
  const TrainRig& clean = CleanRun(name, options).rig;
  const TrainRig again("campaign_again");
  // As often as not another launch, with another number of threads.
  if (number % 2 == 1) {
    RigOptions first = options;
    first.until = 1 + number % 5;
    again.Unseed(first);
    options.threads = 2;
  }
  again.Unseed(options);
  const auto bisected = Bisect(
      *PosixFileSystem(), {.a = clean.dir(), .b = again.dir(), .threads = 1});
  if (!bisected.ok()) return std::string(bisected.status().message());
  return bisected->equal() ? "" : absl::StrCat(name, BisectJson(*bisected));
}

}  // namespace lockstep
