#include "data/blend.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// A source's next draw as a job: not before `release`, and urgent by deadline
// (x + 1 - 1/(2k-2)) / weight, kept as a numerator over the source's parts.
struct Job {
  uint64_t deadline = 0;  // times parts * (2k-2) / period
  uint64_t parts = 0;
  size_t source = 0;
};

// Below 2^37 * 2^20, so the cross products fit.
struct Later {
  bool operator()(const Job& a, const Job& b) const {
    const uint64_t left = a.deadline * b.parts, right = b.deadline * a.parts;
    return left != right ? left > right : a.source > b.source;
  }
};

// Jobs of the sources by the position at which they may first be drawn.
class Waiting {
 public:
  Waiting(const std::vector<uint64_t>& parts, uint64_t period)
      : parts_(parts), period_(period), by_release_(period + 1) {
    const auto used = static_cast<uint64_t>(std::count_if(
        parts.begin(), parts.end(), [](uint64_t p) { return p; }));
    scale_ = used > 1 ? 2 * used - 2 : 1;
  }

  // Releases the source's draw number `drawn` (from 0): the first t after `now`
  // with t * weight - drawn >= 1 / (2k-2).
  void Add(size_t source, uint64_t drawn, uint64_t now) {
    const uint64_t numerator = period_ * (scale_ * drawn + 1);
    const uint64_t denominator = parts_[source] * scale_;
    const uint64_t release =
        scale_ == 1
            ? now + 1
            : std::max(now + 1, (numerator + denominator - 1) / denominator);
    LS_CHECK_LE(release, period_);
    by_release_[release].push_back(source);
  }

  // The most urgent job at position t, counted from 1; once for each t.
  size_t Next(uint64_t t, const std::vector<uint32_t>& drawn) {
    for (const size_t s : by_release_[t]) {
      ready_.push({scale_ * drawn[s] + scale_ - 1, parts_[s], s});
    }
    by_release_[t] = {};
    LS_CHECK(!ready_.empty()) << t;
    const size_t source = ready_.top().source;
    ready_.pop();
    return source;
  }

 private:
  const std::vector<uint64_t>& parts_;
  const uint64_t period_;
  uint64_t scale_;  // 2k - 2; one source alone needs no rule
  std::vector<std::vector<size_t>> by_release_;
  std::priority_queue<Job, std::vector<Job>, Later> ready_;
};

}  // namespace

BlendPeriod::BlendPeriod(const BlendWeights& weights) : parts_(weights.parts) {
  const uint64_t period = weights.period;
  LS_CHECK(period > 0 && period <= kMaxBlendPeriod) << period;
  Waiting waiting(parts_, period);
  for (size_t s = 0; s < parts_.size(); ++s) {
    if (parts_[s] > 0) {
      waiting.Add(s, 0, 0);
    }
  }
  std::vector<uint32_t> drawn(parts_.size(), 0);
  for (uint64_t t = 1; t <= period; ++t) {
    const size_t source = waiting.Next(t, drawn);
    sources_.push_back(static_cast<uint16_t>(source));
    before_.push_back(drawn[source]);
    if (++drawn[source] < parts_[source]) {
      waiting.Add(source, drawn[source], t);
    }
  }
}

std::vector<uint64_t> BlendPeriod::Counts(uint64_t count) const {
  std::vector<uint64_t> counts(parts_.size());
  for (size_t s = 0; s < parts_.size(); ++s) {
    counts[s] = count / period() * parts_[s];
  }
  for (uint64_t at = 0; at < count % period(); ++at) {
    ++counts[sources_[at]];
  }
  return counts;
}

absl::StatusOr<Blend> Blend::Make(const std::vector<BlendStage>& stages) {
  LS_CHECK(!stages.empty() && stages[0].from_sample == 0);
  Blend blend;
  for (const BlendStage& stage : stages) {
    LS_ASSIGN_OR_RETURN(const BlendWeights weights,
                        MakeBlendWeights(stage.weights));
    LS_CHECK_EQ(stage.weights.size(), stages[0].weights.size());
    std::vector<uint64_t> before(stage.weights.size(), 0);
    if (!blend.stages_.empty()) {
      LS_CHECK_GT(stage.from_sample, blend.stages_.back().from_sample);
      before = blend.Counts(stage.from_sample);
    }
    blend.stages_.push_back({stage.from_sample, weights.rounded,
                             BlendPeriod(weights), std::move(before)});
  }
  return blend;
}

const Blend::Stage& Blend::StageOf(uint64_t global_index) const {
  const auto after = std::upper_bound(
      stages_.begin(), stages_.end(), global_index,
      [](uint64_t g, const Stage& stage) { return g < stage.from_sample; });
  return *(after - 1);
}

BlendDraw Blend::At(uint64_t global_index) const {
  const Stage& stage = StageOf(global_index);
  BlendDraw draw = stage.period.At(global_index - stage.from_sample);
  draw.index += stage.before[draw.source];
  return draw;
}

std::vector<uint64_t> Blend::Counts(uint64_t count) const {
  const Stage& stage = StageOf(count == 0 ? 0 : count - 1);
  std::vector<uint64_t> counts = stage.period.Counts(count - stage.from_sample);
  for (size_t s = 0; s < counts.size(); ++s) {
    counts[s] += stage.before[s];
  }
  return counts;
}

}  // namespace lockstep
