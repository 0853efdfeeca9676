#include "tools/trace_diff/rank_parting.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/trace_diff/phase_place.h"
#include "tools/trace_diff/tensor_match.h"

namespace lockstep {
namespace {

class Matcher {
 public:
  Matcher(int rank, const OperationList& a, const OperationList& b)
      : a_(a), b_(b), beyond_b_(a, b), beyond_a_(b, a) {
    parting_.rank = rank;
    parting_.end_a = beyond_a_.End();
    parting_.end_b = beyond_b_.End();
  }

  RankParting Run() {
    Count();
    if (parting_.different == 0 && parting_.missing == 0) return parting_;
    for (size_t place = 0; place < a_.size(); ++place) {
      const auto found = b_.Find(a_, place);
      if (!found) {
        if (a_.OfLaunch(place) || beyond_b_(place)) continue;
        return Alone(a_.At(place), place, true);
      }
      if (const auto extra = ExtraBefore(*found)) {
        return Alone(b_.At(*extra), place, false);
      }
      if (!a_.SameTensors(place, b_, *found) && Differ(place, *found)) {
        return parting_;
      }
    }
    if (const auto extra = ExtraBefore(b_.size())) {
      return Alone(b_.At(*extra), a_.size(), false);
    }
    return parting_;
  }

 private:
  void Count() {
    int64_t matched = 0;
    for (size_t i = 0; i < a_.size(); ++i) {
      const auto found = b_.Find(a_, i);
      if (!found) {
        parting_.missing += !a_.OfLaunch(i) && !beyond_b_(i);
        continue;
      }
      ++matched;
      parting_.different += !a_.SameTensors(i, b_, *found);
    }
    parting_.compared = matched;
    if (matched == static_cast<int64_t>(b_.size())) return;
    for (size_t j = 0; j < b_.size(); ++j) {
      parting_.missing += !b_.OfLaunch(j) && !beyond_a_(j) && !a_.Find(b_, j);
    }
  }

  // An operation of b that a never does, and that b did before the one at
  // `place`; both orders are walked together.
  std::optional<size_t> ExtraBefore(size_t place) {
    for (; next_b_ < place; ++next_b_) {
      if (!b_.OfLaunch(next_b_) && !beyond_a_(next_b_) &&
          !a_.Find(b_, next_b_)) {
        return next_b_;
      }
    }
    next_b_ = std::max(next_b_, place + 1);
    return std::nullopt;
  }

  RankParting Alone(const TracedOperation& operation, size_t place,
                    bool only_in_a) {
    parting_.kind = Parting::kControlFlow;
    parting_.identity = operation.identity;
    parting_.micro_batch = operation.micro_batch;
    parting_.place = static_cast<int64_t>(place);
    parting_.only_in_a = only_in_a;
    return parting_;
  }

  void Take(const TracedOperation& operation, size_t place, Parting kind,
            const std::pair<TracedTensor, TracedTensor>& tensors) {
    parting_.kind = kind;
    parting_.identity = operation.identity;
    parting_.micro_batch = operation.micro_batch;
    parting_.place = static_cast<int64_t>(place);
    parting_.tensor = tensors.first.name;
    parting_.a = tensors.first;
    parting_.b = tensors.second;
  }

  // Fills in the parting if the operations are not equal.
  bool Differ(size_t place, size_t place_b) {
    const TracedOperation a = a_.At(place), b = b_.At(place_b);
    if (!SameKinds(a.inputs, b.inputs) || !SameKinds(a.outputs, b.outputs)) {
      Take(a, place, Parting::kShape, FirstOfOtherKind(a, b));
      return true;
    }
    const ptrdiff_t input = FirstDifferent(a.inputs, b.inputs);
    const ptrdiff_t output = FirstDifferent(a.outputs, b.outputs);
    if (input >= 0) {
      const auto k = static_cast<size_t>(input);
      Take(a, place, Parting::kReceiver, {a.inputs[k], b.inputs[k]});
      ClassInput(place, place_b);
      return true;
    }
    if (output < 0) return false;
    const auto k = static_cast<size_t>(output);
    Parting kind =
        a.inputs.empty() ? Parting::kUnknownInputs : Parting::kOrigin;
    if (IsReceive(a.identity.phase, a.identity.operation)) {
      kind = Parting::kReceiver;
    }
    Take(a, place, kind, {a.outputs[k], b.outputs[k]});
    return true;
  }

  // The input that differs: from what its producer left, in either trace? Up to
  // here all outputs were equal, so the producer left both the same.
  void ClassInput(size_t place, size_t place_b) {
    if (const auto producer = ProducerOf(a_, place, parting_.a)) {
      parting_.kind = Parting::kBetween;
      parting_.producer = a_.At(*producer).identity;
      return;
    }
    // In a it came from nowhere; perhaps a is the one that was changed.
    const auto other = ProducerOf(b_, place_b, parting_.b);
    if (!other) return;
    const auto found = a_.Find(b_, *other);
    if (!found || *found >= place) return;
    parting_.kind = Parting::kBetween;
    parting_.producer = a_.At(*found).identity;
  }

  const OperationList& a_;
  const OperationList& b_;
  // Of a, what lies behind the end of b; and the other way round.
  const Beyond beyond_b_, beyond_a_;
  size_t next_b_ = 0;  // of b, what the walk has not passed
  RankParting parting_;
};

}  // namespace

const char* NameOf(Parting parting) {
  switch (parting) {
    case Parting::kNone:
      return "equal";
    case Parting::kControlFlow:
      return "control_flow";
    case Parting::kOrigin:
      return "origin";
    case Parting::kBetween:
      return "changed_between";
    case Parting::kUnknownInputs:
      return "unknown_inputs";
    case Parting::kReceiver:
      return "receiver";
    case Parting::kShape:
      return "shape";
  }
  return "";
}

RankParting PartingOf(int rank, const OperationList& a,
                      const OperationList& b) {
  return Matcher(rank, a, b).Run();
}

}  // namespace lockstep
