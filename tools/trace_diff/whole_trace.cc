#include "tools/trace_diff/whole_trace.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "determinism/operation.h"
#include "tools/trace_diff/phase_place.h"
#include "tools/trace_diff/whole_tensor.h"

namespace lockstep {
namespace {

// Tensors by their place in the operation: names repeat.
using Side = std::vector<TensorParts>;

struct Gathered {
  std::vector<int> ranks;
  size_t place = 0;  // in the trace of the first of them
  int64_t micro_batch = 0;
  Side inputs, outputs;
};

bool IsRunningSum(const TracedTensor& tensor) {
  return tensor.name.ends_with("_sum");
}

// Of records and not of tensors: their hashes are no sums over parts. Those of
// a step are of all ranks.
bool IsOfManyRecords(const OperationIdentity& id) {
  return id.operation == kPhaseOperation || id.operation == kModuleOperation;
}

bool IsOfPass(std::string_view phase) {
  return phase == NameOf(Phase::kForward) ||
         phase == NameOf(Phase::kRecompute) ||
         phase == NameOf(Phase::kBackward);
}

// What a step does once for all of its samples, like an update, replicas name
// by the first of their own; here it has the first of all. A replica that has
// no samples of a step names it by none.
class StepNames {
 public:
  explicit StepNames(const RanksOperations& ranks) {
    std::set<std::pair<int, int64_t>> passed;
    std::set<int64_t> steps;
    for (const auto& [rank, operations] : ranks) {
      for (const TracedOperation& operation : operations) {
        if (!IsOfPass(operation.identity.phase)) continue;
        passed.emplace(rank, operation.identity.step);
        steps.insert(operation.identity.step);
      }
    }
    for (const auto& [rank, operations] : ranks) {
      for (const TracedOperation& operation : operations) {
        const OperationIdentity& id = operation.identity;
        const bool idle =
            steps.contains(id.step) && !passed.contains({rank, id.step});
        if (!idle && !IsOfPass(id.phase)) Take(id);
      }
    }
  }

  OperationIdentity Of(OperationIdentity id) const {
    const auto at = first_.find(KeyOf(id));
    if (at != first_.end() && !IsOfPass(id.phase)) id.first_sample = at->second;
    return id;
  }

 private:
  void Take(const OperationIdentity& id) {
    const auto [at, added] = first_.try_emplace(KeyOf(id), id.first_sample);
    at->second = std::min(at->second, id.first_sample);
  }

  using Key = std::tuple<int64_t, int64_t, std::string>;
  static Key KeyOf(const OperationIdentity& id) {
    return {id.step, id.attempt, id.phase};
  }

  std::map<Key, uint64_t> first_;
};

void AddAll(const std::vector<TracedTensor>& tensors, Side& side) {
  if (side.size() < tensors.size()) side.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) side[i].Add(tensors[i]);
}

// Forward of all micro-batches, then backward: no operation needs one that
// stands behind it. Ranks ascend with the stages of a pipeline.
auto OrderOf(const OperationIdentity& id, const Gathered& gathered) {
  const Phase phase = PhaseFromName(id.phase).value_or(Phase::kLoad);
  const int rank = gathered.ranks.front();
  const bool down = phase == Phase::kBackward || phase == Phase::kRecompute;
  const int order = phase == Phase::kRecompute
                        ? static_cast<int>(Phase::kBackward)
                        : static_cast<int>(phase);
  return std::tuple(id.step, id.phase.empty(), id.attempt,
                    PlaceInStep(id.phase, id.operation), order, id.first_sample,
                    down ? -rank : rank, gathered.place);
}

using All = std::map<OperationIdentity, Gathered>;

All Gather(const RanksOperations& ranks) {
  const StepNames names(ranks);
  All all;
  for (const auto& [rank, operations] : ranks) {
    for (size_t place = 0; place < operations.size(); ++place) {
      const TracedOperation& operation = operations[place];
      if (IsExchange(operation.identity.phase)) continue;
      if (IsOfManyRecords(operation.identity)) continue;
      Gathered& gathered = all[names.Of(operation.identity)];
      if (gathered.ranks.empty()) {
        gathered.place = place;
        gathered.micro_batch = operation.micro_batch;
      }
      gathered.ranks.push_back(rank);
      AddAll(operation.inputs, gathered.inputs);
      AddAll(operation.outputs, gathered.outputs);
    }
  }
  return all;
}

// The tensors of `side`; of what the other trace has the same place of, only
// what is whole there too.
std::vector<TracedTensor> WholeOf(const Side& side, const Side* other) {
  std::vector<TracedTensor> tensors;
  for (size_t i = 0; i < side.size(); ++i) {
    if (IsRunningSum(side[i].first())) continue;
    if (other != nullptr && i < other->size() && !(*other)[i].Whole()) continue;
    if (auto tensor = side[i].Whole()) tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

std::vector<TracedOperation> InOrder(const All& all, const All& other) {
  std::vector<const All::value_type*> order;
  for (const auto& entry : all) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return OrderOf(a->first, a->second) < OrderOf(b->first, b->second);
  });
  std::vector<TracedOperation> whole;
  for (const auto* entry : order) {
    const auto match = other.find(entry->first);
    const Gathered* there = match == other.end() ? nullptr : &match->second;
    whole.push_back({.identity = entry->first,
                     .micro_batch = entry->second.micro_batch,
                     .inputs = WholeOf(entry->second.inputs,
                                       there ? &there->inputs : nullptr),
                     .outputs = WholeOf(entry->second.outputs,
                                        there ? &there->outputs : nullptr)});
  }
  return whole;
}

}  // namespace

WholeTraces WholesOf(const RanksOperations& a, const RanksOperations& b) {
  const All of_a = Gather(a), of_b = Gather(b);
  WholeTraces wholes = {.a = InOrder(of_a, of_b), .b = InOrder(of_b, of_a)};
  for (const auto& [identity, gathered] : of_a) {
    wholes.ranks_of_a[identity] = gathered.ranks;
  }
  return wholes;
}

}  // namespace lockstep
