#include "tools/bisect/scope_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"
#include "tools/trace_diff/whole_trace.h"

namespace lockstep {
namespace {

using Operations = std::vector<TracedOperation>;

ScopeState StateOf(Parting parting) {
  switch (parting) {
    case Parting::kNone:
      return ScopeState::kEqual;
    case Parting::kControlFlow:
      return ScopeState::kMissing;
    case Parting::kBetween:
      return ScopeState::kBetween;
    case Parting::kReceiver:
      return ScopeState::kReceiver;
    default:
      return ScopeState::kOrigin;
  }
}

ScopeNode& ChildOf(ScopeNode& node, const std::string& name, size_t columns) {
  const auto found =
      std::find_if(node.children.begin(), node.children.end(),
                   [&](const ScopeNode& child) { return child.name == name; });
  if (found != node.children.end()) return *found;
  node.children.push_back(
      {.name = name,
       .states = std::vector<ScopeState>(columns, ScopeState::kAbsent)});
  return node.children.back();
}

// The phase first: forward is equal up to the parting, and backward behind it
// is not, so the two of a module must not hide each other.
std::vector<std::string> PathOf(const OperationIdentity& id) {
  std::vector<std::string> path = {id.phase.empty() ? "step" : id.phase};
  if (!id.scope.empty()) {
    for (const auto part : absl::StrSplit(id.scope, '.')) {
      path.emplace_back(part.data(), part.size());
    }
  }
  path.push_back(id.operation.empty() ? "(all)" : id.operation);
  return path;
}

class Grower {
 public:
  Grower(std::vector<int> columns, const TraceDifference& difference)
      : difference_(difference) {
    tree_.ranks = std::move(columns);
    tree_.root.states.assign(tree_.ranks.size(), ScopeState::kAbsent);
  }

  void Grow(size_t column, const Operations& a, const Operations& b) {
    std::map<OperationIdentity, const TracedOperation*> others;
    for (const TracedOperation& operation : b) {
      others[operation.identity] = &operation;
    }
    for (const TracedOperation& operation : a) {
      const auto other = others.find(operation.identity);
      if (other == others.end()) {
        Mark(column, operation, ScopeState::kMissing);
        continue;
      }
      const bool same = operation.inputs == other->second->inputs &&
                        operation.outputs == other->second->outputs;
      Mark(column, operation,
           same ? ScopeState::kEqual : ScopeState::kReceiver);
      others.erase(other);
    }
    for (const TracedOperation& operation : b) {
      if (!others.contains(operation.identity)) continue;
      Mark(column, operation, ScopeState::kMissing);
    }
  }

  ScopeTree Done() { return std::move(tree_); }

 private:
  // What explains the rest is told apart from what lies behind it. The first
  // mismatch of another rank is such too: it was sent other numbers.
  ScopeState FirstOr(size_t column, const OperationIdentity& id,
                     ScopeState state) const {
    const std::vector<int>& ranks = difference_.ranks;
    const bool here = difference_.across_layouts ||
                      std::find(ranks.begin(), ranks.end(),
                                tree_.ranks[column]) != ranks.end();
    return here && !difference_.equal() && difference_.first.identity == id
               ? StateOf(difference_.first.kind)
               : state;
  }

  void Mark(size_t column, const TracedOperation& operation, ScopeState state) {
    state = FirstOr(column, operation.identity, state);
    ScopeNode* node = &tree_.root;
    const auto mark = [&] {
      node->states[column] = std::max(node->states[column], state);
      ++node->operations;
    };
    mark();
    for (const std::string& name : PathOf(operation.identity)) {
      node = &ChildOf(*node, name, tree_.ranks.size());
      mark();
    }
  }

  const TraceDifference& difference_;
  ScopeTree tree_;
};

RanksOperations AllOf(const RanksLists& ranks) {
  RanksOperations all;
  for (const auto& [rank, list] : ranks) all[rank] = list.All();
  return all;
}

}  // namespace

const char* NameOf(ScopeState state) {
  switch (state) {
    case ScopeState::kAbsent:
      return "absent";
    case ScopeState::kEqual:
      return "equal";
    case ScopeState::kReceiver:
      return "receiver";
    case ScopeState::kMissing:
      return "missing";
    case ScopeState::kBetween:
      return "changed between";
    case ScopeState::kOrigin:
      return "origin";
  }
  return "";
}

ScopeState ScopeNode::worst() const {
  return states.empty() ? ScopeState::kAbsent
                        : *std::max_element(states.begin(), states.end());
}

ScopeTree MakeScopeTree(const RanksOperations& a, const RanksOperations& b,
                        const TraceDifference& difference) {
  if (difference.across_layouts) {
    Grower grower({-1}, difference);
    const WholeTraces wholes = WholesOf(a, b);
    grower.Grow(0, wholes.a, wholes.b);
    return grower.Done();
  }
  std::vector<int> ranks;
  for (const auto& [rank, operations] : a) ranks.push_back(rank);
  Grower grower(ranks, difference);
  for (size_t column = 0; column < ranks.size(); ++column) {
    const auto other = b.find(ranks[column]);
    grower.Grow(column, a.at(ranks[column]),
                other == b.end() ? Operations() : other->second);
  }
  return grower.Done();
}

absl::StatusOr<ScopeTree> ReadScopeTree(FileSystem& fs, const std::string& a,
                                        const std::string& b,
                                        const TraceDifference& difference,
                                        const TraceSteps& steps) {
  LS_ASSIGN_OR_RETURN(const TracePair pair, ReadTracePair(fs, a, b, steps));
  return MakeScopeTree(AllOf(pair.a), AllOf(pair.b), difference);
}

}  // namespace lockstep
