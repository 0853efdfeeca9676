#include "tools/trace_diff/rank_parting.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tools/trace_diff/tensor_match.h"

namespace lockstep {
namespace {

using Operations = std::vector<TracedOperation>;
using Places = std::map<OperationIdentity, size_t>;

Places PlacesOf(const Operations& operations) {
  Places places;
  for (size_t i = 0; i < operations.size(); ++i) {
    places.emplace(operations[i].identity, i);
  }
  return places;
}

class Matcher {
 public:
  Matcher(int rank, const Operations& a, const Operations& b)
      : a_(a), b_(b), places_b_(PlacesOf(b)) {
    parting_.rank = rank;
  }

  RankParting Run() {
    Count();
    for (size_t place = 0; place < a_.size(); ++place) {
      const auto found = places_b_.find(a_[place].identity);
      if (found == places_b_.end()) return Alone(a_[place], place, true);
      if (const auto extra = ExtraBefore(found->second)) {
        return Alone(b_[*extra], place, false);
      }
      if (Differ(place, found->second)) return parting_;
    }
    if (next_b_ < b_.size()) return Alone(b_[next_b_], a_.size(), false);
    return parting_;
  }

 private:
  void Count() {
    for (const TracedOperation& operation : a_) {
      const auto found = places_b_.find(operation.identity);
      if (found == places_b_.end()) {
        ++parting_.missing;
        continue;
      }
      ++parting_.compared;
      const TracedOperation& other = b_[found->second];
      if (!SameKinds(operation.outputs, other.outputs) ||
          FirstDifferent(operation.outputs, other.outputs) >= 0) {
        ++parting_.different;
      }
    }
    const int64_t matched = parting_.compared;
    parting_.missing += static_cast<int64_t>(b_.size()) - matched;
    for (const auto& [identity, place] : PlacesOf(a_)) in_a_.insert(identity);
  }

  // An operation of b that a never does, and that b did before the one at
  // `place`; both orders are walked together.
  std::optional<size_t> ExtraBefore(size_t place) {
    for (; next_b_ < place; ++next_b_) {
      if (!in_a_.contains(b_[next_b_].identity)) return next_b_;
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

  void Take(size_t place, Parting kind, const TracedTensor& a,
            const TracedTensor& b) {
    parting_.kind = kind;
    parting_.identity = a_[place].identity;
    parting_.micro_batch = a_[place].micro_batch;
    parting_.place = static_cast<int64_t>(place);
    parting_.tensor = a.name;
    parting_.a = a;
    parting_.b = b;
  }

  // Fills in the parting if the operations are not equal.
  bool Differ(size_t place, size_t place_b) {
    const TracedOperation &a = a_[place], &b = b_[place_b];
    if (!SameKinds(a.inputs, b.inputs) || !SameKinds(a.outputs, b.outputs)) {
      const auto [x, y] = FirstOfOtherKind(a, b);
      Take(place, Parting::kShape, x, y);
      return true;
    }
    const ptrdiff_t input = FirstDifferent(a.inputs, b.inputs);
    const ptrdiff_t output = FirstDifferent(a.outputs, b.outputs);
    if (input >= 0)
      return ClassInput(place, place_b, static_cast<size_t>(input));
    if (output < 0) return false;
    const auto k = static_cast<size_t>(output);
    Take(place, a.inputs.empty() ? Parting::kUnknownInputs : Parting::kOrigin,
         a.outputs[k], b.outputs[k]);
    return true;
  }

  // The input that differs: from what its producer left, in either trace?
  bool ClassInput(size_t place, size_t place_b, size_t input) {
    const TracedTensor& a = a_[place].inputs[input];
    const TracedTensor& b = b_[place_b].inputs[input];
    Take(place, Parting::kReceiver, a, b);
    auto producer = ProducerOf(a_, place, a);
    if (!producer) {
      // In a it came from nowhere; perhaps a is the one that was changed.
      const auto other = ProducerOf(b_, place_b, b);
      if (!other) return true;
      const auto found =
          std::find_if(a_.begin(), a_.begin() + static_cast<ptrdiff_t>(place),
                       [&](const TracedOperation& operation) {
                         return operation.identity == b_[other->place].identity;
                       });
      if (found == a_.begin() + static_cast<ptrdiff_t>(place)) return true;
      producer =
          Producer{static_cast<size_t>(found - a_.begin()), other->output};
    }
    // Up to here all outputs were equal, so the producer left both the same.
    parting_.kind = Parting::kBetween;
    parting_.producer = a_[producer->place].identity;
    return true;
  }

  const Operations& a_;
  const Operations& b_;
  const Places places_b_;
  std::set<OperationIdentity> in_a_;
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

RankParting PartingOf(int rank, const std::vector<TracedOperation>& a,
                      const std::vector<TracedOperation>& b) {
  return Matcher(rank, a, b).Run();
}

}  // namespace lockstep
