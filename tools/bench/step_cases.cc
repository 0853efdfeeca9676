#include "tools/bench/step_cases.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/config.h"

namespace lockstep {
namespace {

constexpr double kMiB = 1024 * 1024;

// Cases of one number of threads.
class Report {
 public:
  Report(const RunConfig& config, const StepMeasure& best, int threads,
         int64_t recipe_samples)
      : config_(config),
        best_(best),
        threads_(threads),
        recipe_samples_(recipe_samples) {}

  std::vector<BenchCase> Cases() {
    const StepTimes& times = best_.times;
    const double tokens = TokensOf(config_.batch.global);
    Add("tokens", tokens / times.seconds, "tokens/s", 0);
    if (!best_.peer.empty()) AddPeer(tokens);
    Add("tokens at the recipe's batch", RecipeRate(), "tokens/s", 0);
    Add("model FLOPs",
        ModelFlopsPerStep(config_.model, config_.batch.global,
                          config_.data.sequence) /
            times.seconds,
        "FLOP/s", best_.peak);
    for (int phase = 0; phase < kPhaseCount; ++phase) {
      const double seconds = times.by_phase[phase];
      if (seconds == 0) continue;
      Add(absl::StrCat("phase ", NameOf(static_cast<Phase>(phase))), seconds,
          "s/step", times.seconds);
    }
    Add("phase rest", times.after, "s/step", times.seconds);
    for (int kind = 0; kind < kStepKinds; ++kind) {
      Add(absl::StrCat("kind ", NameOf(static_cast<StepKind>(kind))),
          times.by_kind[kind], "s/step", times.seconds);
    }
    AddRooflines();
    Add("fingerprints", best_.fingerprint_seconds, "s/step", times.seconds);
    AddAtRecipesBatch();
    Add("peak memory", static_cast<double>(best_.peak_bytes) / kMiB, "MiB",
        static_cast<double>(times.kept_bytes) / kMiB);
    return std::move(cases_);
  }

 private:
  // Pairs for the ratio; the peer's own rate is its best.
  void AddPeer(double tokens) {
    std::vector<double> ratios = best_.peer_ratios;
    std::sort(ratios.begin(), ratios.end());
    cases_.back().peer = best_.peer;
    cases_.back().peer_ratio = ratios[ratios.size() / 2];
    const auto& seconds = best_.peer_seconds;
    Add("tokens of " + best_.peer,
        tokens / *std::min_element(seconds.begin(), seconds.end()), "tokens/s",
        0);
  }
  // Seconds over those of the roofline: 1 is the best there is. Only of what is
  // one kernel an operation.
  void AddRooflines() {
    for (const StepKind kind : {StepKind::kScan, StepKind::kAttention}) {
      for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
        const KindWork& work =
            best_.times.work[static_cast<int>(kind)][static_cast<int>(phase)];
        if (work.flops == 0) continue;
        Add(absl::StrCat("roofline ", NameOf(kind), " ", NameOf(phase)),
            work.seconds, "s/step",
            work.Roofline(best_.fma_peak, best_.memory));
      }
    }
  }
  double TokensOf(int64_t samples) const {
    return static_cast<double>(samples * config_.data.sequence);
  }
  // Forward and backward once a micro-batch, all else once a step.
  double RecipeSeconds() const {
    const StepTimes& times = best_.times;
    double each = 0;
    for (const Phase phase :
         {Phase::kForward, Phase::kRecompute, Phase::kBackward}) {
      each += times.by_phase[static_cast<int>(phase)];
    }
    const double factor = static_cast<double>(recipe_samples_) /
                          static_cast<double>(config_.batch.global);
    return factor * each + (times.seconds - each);
  }
  double RecipeRate() const {
    return TokensOf(recipe_samples_) / RecipeSeconds();
  }
  // What a step pays once, however many samples it has: a bench's small batch
  // shows it larger than the recipe's does.
  void AddAtRecipesBatch() {
    const auto add = [&](const std::string& what, double seconds) {
      Add(absl::StrCat(what, " at the recipe's batch"), seconds, "s/step",
          RecipeSeconds());
    };
    for (const Phase phase :
         {Phase::kReduction, Phase::kClip, Phase::kOptimizer}) {
      add(std::string(NameOf(phase)),
          best_.times.by_phase[static_cast<int>(phase)]);
    }
    add("fingerprints", best_.fingerprint_seconds);
  }
  void Add(const std::string& name, double rate, const char* unit,
           double probe) {
    cases_.push_back({.name = name,
                      .threads = threads_,
                      .rate = rate,
                      .unit = unit,
                      .probe = probe,
                      .ratio = probe > 0 ? rate / probe : 0});
  }

  const RunConfig& config_;
  const StepMeasure& best_;
  const int threads_;
  const int64_t recipe_samples_;
  std::vector<BenchCase> cases_;
};

}  // namespace

std::vector<BenchCase> StepCases(const RunConfig& config,
                                 const StepMeasure& measure, int threads,
                                 int64_t recipe_samples) {
  return Report(config, measure, threads, recipe_samples).Cases();
}

}  // namespace lockstep
