#include "tools/trace_diff/shared_sum.h"

#include <deque>
#include <string>

#include "determinism/operation.h"
#include "tools/trace_diff/whole_tensor.h"

namespace lockstep {
namespace {

bool IsOfPass(const std::string& phase) {
  return phase == NameOf(Phase::kForward) ||
         phase == NameOf(Phase::kRecompute) ||
         phase == NameOf(Phase::kBackward);
}

// Over tensor ranks: rows of activations are cut over them too, of a sequence,
// and nothing is added up over those.
bool IsCut(const TracedTensor& tensor) {
  if (tensor.held.empty()) return false;
  if (tensor.name == "weight" || tensor.name == "dweight_sum") return true;
  return !tensor.held.back().empty();
}

// Whether the traced ranks have all of the operation's i-th tensor.
bool IsCovered(const RanksLists& ranks, const OperationIdentity& identity,
               bool input, size_t i) {
  std::deque<TracedOperation> all;  // their tensors stay where they are
  TensorParts parts;
  for (const auto& [rank, list] : ranks) {
    const auto place = list.Find(identity);
    if (!place) continue;
    all.push_back(list.At(*place));
    const auto& tensors = input ? all.back().inputs : all.back().outputs;
    if (i < tensors.size()) parts.Add(tensors[i]);
  }
  return !all.empty() && parts.Whole().has_value();
}

}  // namespace

bool SumsOverUntraced(const RanksLists& ranks, const RankParting& parting) {
  if (parting.kind != Parting::kOrigin &&
      parting.kind != Parting::kUnknownInputs) {
    return false;
  }
  const OperationIdentity& identity = parting.identity;
  if (!IsOfPass(identity.phase) || IsCut(parting.a)) return false;
  const OperationList& list = ranks.at(parting.rank);
  const auto place = list.Find(identity);
  if (!place) return false;
  const TracedOperation operation = list.At(*place);
  for (const bool input : {true, false}) {
    const auto& tensors = input ? operation.inputs : operation.outputs;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (IsCut(tensors[i]) && !IsCovered(ranks, identity, input, i)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace lockstep
