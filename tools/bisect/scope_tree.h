// What every operation of a step came to, on every rank, as a tree of scopes.
//
// What it is: two traces laid over each other for the eye: each phase, in it
// each module, and below that each operation, with one state a rank. What it is
// not: a verdict: that is the first parting's (trace_diff.h), and this marks
// it. Why so: behind the first difference all is different, and only the
// picture of all of it shows that nothing before it was.
#ifndef LOCKSTEP_TOOLS_BISECT_SCOPE_TREE_H_
#define LOCKSTEP_TOOLS_BISECT_SCOPE_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {

// The worse, the later: a module has the worst of what is in it.
enum class ScopeState : uint8_t {
  kAbsent,    // this rank does none of it
  kEqual,     // all that was captured
  kReceiver,  // different, and behind the first parting
  kMissing,   // one run did it and the other did not
  kBetween,   // its input is not what its producer left
  kOrigin,    // equal inputs, other outputs, and none before it
};
// "absent", "equal", "receiver", "missing", "changed between", "origin".
const char* NameOf(ScopeState state);

struct ScopeNode {
  std::string name;
  std::vector<ScopeState> states = {};  // by column
  int64_t operations = 0;               // records below it, of all columns
  std::vector<ScopeNode> children = {};

  ScopeState worst() const;
};

struct ScopeTree {
  std::vector<int> ranks = {};  // the columns; {-1}: whole tensors, two layouts
  ScopeNode root = {};

  bool empty() const { return root.children.empty(); }
};

// `difference` is that of the same operations.
ScopeTree MakeScopeTree(const RanksOperations& a, const RanksOperations& b,
                        const TraceDifference& difference);

// Of two folders of traces, or runs, as CompareTraces takes them.
absl::StatusOr<ScopeTree> ReadScopeTree(FileSystem& fs, const std::string& a,
                                        const std::string& b,
                                        const TraceDifference& difference,
                                        const TraceSteps& steps = {});

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_SCOPE_TREE_H_
