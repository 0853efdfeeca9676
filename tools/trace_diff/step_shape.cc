#include "tools/trace_diff/step_shape.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct StepShape {
  // Of forward: first samples, and numbers on each rank.
  std::set<uint64_t> samples = {};
  std::set<std::pair<int, int64_t>> micro_batches = {};
  bool recomputes = false;

  // Samples from one micro-batch to the next; 0: there is but one.
  uint64_t Stride() const {
    uint64_t least = 0;
    for (auto at = samples.begin(); at != samples.end(); ++at) {
      const auto next = std::next(at);
      if (next == samples.end()) break;
      least = least == 0 ? *next - *at : std::min(least, *next - *at);
    }
    return least;
  }
};

std::set<int64_t> FinishedSteps(const RanksLists& ranks) {
  std::set<int64_t> steps;
  if (ranks.empty()) return steps;
  const OperationList& list = ranks.begin()->second;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list.EndsStep(i)) steps.insert(list.StepOf(i));
  }
  return steps;
}

StepShape ShapeOf(const RanksLists& ranks, int64_t step) {
  StepShape shape;
  for (const auto& [rank, list] : ranks) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list.StepOf(i) != step || list.OfLaunch(i)) continue;
      const TracedOperation operation = list.At(i);
      const std::string& phase = operation.identity.phase;
      shape.recomputes |= phase == NameOf(Phase::kRecompute);
      if (phase != NameOf(Phase::kForward)) continue;
      shape.micro_batches.emplace(rank, operation.micro_batch);
      if (!operation.identity.operation.starts_with('(')) {
        shape.samples.insert(operation.identity.first_sample);
      }
    }
  }
  return shape;
}

// A micro-batch that one of them left out is no other cut.
bool CutOtherwise(const StepShape& a, const StepShape& b) {
  if (a.samples.empty() || b.samples.empty()) {  // of phases alone
    return !a.micro_batches.empty() && !b.micro_batches.empty() &&
           a.micro_batches.size() != b.micro_batches.size();
  }
  return a.samples.size() != b.samples.size() && a.Stride() != b.Stride();
}

std::string CutText(const StepShape& shape) {
  return absl::StrCat(
      shape.samples.empty() ? shape.micro_batches.size() : shape.samples.size(),
      " micro-batch(es)");
}

}  // namespace

absl::Status CheckSameCut(const TracePair& pair, const std::string& names,
                          bool recompute_may_differ) {
  // Of ranks that left no trace nothing is known.
  if (pair.a_is_partial != pair.b_is_partial) return absl::OkStatus();
  const std::set<int64_t> in_a = FinishedSteps(pair.a),
                          in_b = FinishedSteps(pair.b);
  const auto both = std::find_if(in_a.begin(), in_a.end(), [&](int64_t step) {
    return in_b.contains(step);
  });
  if (both == in_a.end()) return absl::OkStatus();
  const StepShape a = ShapeOf(pair.a, *both), b = ShapeOf(pair.b, *both);
  std::string what;
  if (CutOtherwise(a, b)) {
    what = absl::StrCat("batch.micro differs: A does step ", *both, " in ",
                        CutText(a), ", B in ", CutText(b));
  } else if (a.recomputes != b.recomputes && !recompute_may_differ) {
    what =
        absl::StrCat("train.recompute differs: only ", a.recomputes ? "A" : "B",
                     " does forward again in step ", *both);
  } else {
    return absl::OkStatus();
  }
  return InputError(
      what + "; so they do other operations", names,
      "`lockstep bisect` of the two runs does one as the other was; or replay "
      "one with the other's (replay --set batch.micro=N --set "
      "train.recompute=BOOL --trace FOLDER) and compare that");
}

}  // namespace lockstep
