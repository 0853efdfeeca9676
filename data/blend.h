// Which source a sample comes from: a pure function of its global index.
//
// One period (the weights' common denominator) is laid out by Tijdeman's rule
// (R. Tijdeman, "The chairman assignment problem", Discrete Mathematics 32,
// 1980): of the sources whose share of the draws so far is ahead of what they
// were given by at least 1/(2k-2), the next draw goes to the one that would
// first be behind by more than 1 - 1/(2k-2); k sources have a weight. Each
// source's count then lies within 1 of weight times draws at every prefix, so a
// source of tiny weight waits its turn, where "the largest deficit first" gives
// it one of the first k draws. At the period's end every deviation is zero, so
// the period repeats, and a table of it answers any index at once. The table is
// rebuilt from the recipe; nothing is saved.
//
// Weights may change at given indices: each stage starts a period of its own,
// and each source continues at the count it had. Not for the order within a
// source (order.h).

#ifndef DATA_BLEND_H_
#define DATA_BLEND_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/blend_weights.h"

namespace lockstep {

struct BlendDraw {
  uint64_t source = 0;
  uint64_t index = 0;  // how many draws of this source came before
};

// One period of one set of weights: at most 6 MiB.
class BlendPeriod {
 public:
  explicit BlendPeriod(const BlendWeights& weights);

  uint64_t period() const { return sources_.size(); }
  const std::vector<uint64_t>& parts() const { return parts_; }
  BlendDraw At(uint64_t index) const {
    const uint64_t turn = index / period(), at = index % period();
    const uint64_t source = sources_[at];
    return {source, turn * parts_[source] + before_[at]};
  }
  // Draws of each source among the first `count`.
  std::vector<uint64_t> Counts(uint64_t count) const;

 private:
  std::vector<uint64_t> parts_;
  std::vector<uint16_t> sources_;  // by position in the period
  std::vector<uint32_t> before_;   // draws of the same source before it
};

// Weights that hold from a global sample index on.
struct BlendStage {
  uint64_t from_sample = 0;
  std::vector<double> weights;  // one a source
};

class Blend {
 public:
  // Stages ascend from sample 0 and have as many weights each. InputError for
  // those of MakeBlendWeights.
  static absl::StatusOr<Blend> Make(const std::vector<BlendStage>& stages);

  BlendDraw At(uint64_t global_index) const;
  // Draws of each source among the first `count` samples of the run.
  std::vector<uint64_t> Counts(uint64_t count) const;

  size_t stage_count() const { return stages_.size(); }
  uint64_t from_sample(size_t stage) const {
    return stages_[stage].from_sample;
  }
  bool rounded(size_t stage) const { return stages_[stage].rounded; }
  const BlendPeriod& period(size_t stage) const {
    return stages_[stage].period;
  }

 private:
  struct Stage {
    uint64_t from_sample;
    bool rounded;
    BlendPeriod period;
    std::vector<uint64_t> before;  // draws of each source before this stage
  };
  const Stage& StageOf(uint64_t global_index) const;

  std::vector<Stage> stages_;
};

}  // namespace lockstep

#endif  // DATA_BLEND_H_
