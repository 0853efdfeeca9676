#include "tools/trace_diff/whole_trace.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "determinism/operation.h"
#include "tools/trace_diff/phase_place.h"

namespace lockstep {
namespace {

// The parts of one tensor: where they lie, and what is there.
struct Parts {
  TracedTensor first;
  std::map<std::vector<std::vector<int64_t>>, Fingerprint> held;
  int64_t covered = 0;
  Fingerprint disagreement;

  void Add(const TracedTensor& part) {
    if (held.empty()) first = part;
    const auto [at, added] = held.try_emplace(part.held, part.value);
    if (added) {
      covered += part.count();
    } else if (!(at->second == part.value)) {
      disagreement += part.value;
      // Lanes of 1 more than the difference: never the lanes of nothing.
      disagreement += Fingerprint{{1, 1}};
    }
  }

  std::optional<TracedTensor> Whole() const {
    const std::vector<int64_t>& shape = first.whole();
    const int64_t count = std::accumulate(shape.begin(), shape.end(),
                                          int64_t{1}, std::multiplies<>());
    if (covered != count) return std::nullopt;
    Fingerprint sum = disagreement;
    for (const auto& [place, value] : held) sum += value;
    return TracedTensor{.name = first.name,
                        .dtype = first.dtype,
                        .shape = shape,
                        .global_shape = {},
                        .held = {},
                        .value = sum};
  }
};

// Tensors by their place in the operation: names repeat.
using Side = std::vector<Parts>;

struct Gathered {
  std::vector<int> ranks;
  size_t place = 0;  // in the trace of the first of them
  int64_t micro_batch = 0;
  Side inputs, outputs;
};

bool IsRunningSum(const TracedTensor& tensor) {
  return tensor.name.ends_with("_sum");
}

void AddAll(const std::vector<TracedTensor>& tensors, Side& side) {
  if (side.size() < tensors.size()) side.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) side[i].Add(tensors[i]);
}

std::vector<TracedTensor> WholeOf(const Side& side) {
  std::vector<TracedTensor> tensors;
  for (const Parts& parts : side) {
    if (IsRunningSum(parts.first)) continue;
    if (auto tensor = parts.Whole()) tensors.push_back(*std::move(tensor));
  }
  return tensors;
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

}  // namespace

std::vector<TracedOperation> WholeTrace(
    const RanksOperations& ranks,
    std::map<OperationIdentity, std::vector<int>>* ranks_of) {
  std::map<OperationIdentity, Gathered> all;
  for (const auto& [rank, operations] : ranks) {
    for (size_t place = 0; place < operations.size(); ++place) {
      const TracedOperation& operation = operations[place];
      if (IsExchange(operation.identity.phase)) continue;
      Gathered& gathered = all[operation.identity];
      if (gathered.ranks.empty()) {
        gathered.place = place;
        gathered.micro_batch = operation.micro_batch;
      }
      gathered.ranks.push_back(rank);
      AddAll(operation.inputs, gathered.inputs);
      AddAll(operation.outputs, gathered.outputs);
    }
  }
  std::vector<const std::pair<const OperationIdentity, Gathered>*> order;
  for (const auto& entry : all) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return OrderOf(a->first, a->second) < OrderOf(b->first, b->second);
  });
  std::vector<TracedOperation> whole;
  for (const auto* entry : order) {
    whole.push_back({.identity = entry->first,
                     .micro_batch = entry->second.micro_batch,
                     .inputs = WholeOf(entry->second.inputs),
                     .outputs = WholeOf(entry->second.outputs)});
    if (ranks_of != nullptr) {
      (*ranks_of)[entry->first] = entry->second.ranks;
    }
  }
  return whole;
}

}  // namespace lockstep
