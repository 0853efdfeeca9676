#include "tools/bisect/likely_cause.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

bool Has(const BisectResult& r, const std::string& field) {
  return std::find(r.fields.begin(), r.fields.end(), field) != r.fields.end();
}

std::string OfTheManifest(const BisectResult& r) {
  std::string keys;
  for (const BisectDifference& d : r.differences) {
    if (d.explains) absl::StrAppend(&keys, keys.empty() ? "" : ", ", d.key);
  }
  return absl::StrCat("the runs were not asked for the same: ", keys);
}

// Of a step that does not happen again, by what it changed.
std::string OfOneTime(const BisectResult& r) {
  const char* phase =
      Has(r, "loss")                ? "forward"
      : Has(r, "fingerprint.grads") ? "backward or reduction"
      : Has(r, "fingerprint.params") || Has(r, "fingerprint.optimizer")
          ? "the update"
          : "what follows the update";
  return absl::StrCat(
      "a value that was wrong once, first in ", phase, " of run ", r.odd_one,
      ": memory or arithmetic of that machine, or a race; replay the step "
      "there, with --swap-ranks, and run `lockstep doctor`");
}

bool OneHighBit(const ElementDifference& e) {
  return e.differ == 1 && e.ulps.size() == 1 &&
         (e.ulps.begin()->first < 0 || e.ulps.begin()->first > 8);
}

bool FewUlps(const ElementDifference& e) {
  return e.differ > 0 && !e.ulps.empty() && e.ulps.begin()->first >= 0 &&
         e.ulps.rbegin()->first <= 4;
}

std::string OfAnOperation(const BisectResult& r) {
  if (!r.repeatable.value_or(true)) return OfOneTime(r);
  if (!r.trace.has_value()) return "";
  if (r.trace->across_layouts) {
    return "a sum over ranks in another order, or a shard in another place";
  }
  if (r.elements.has_value() && OneHighBit(*r.elements)) {
    return "one element is far off: an index, a bound or a write of another "
           "operation, in the one program and not in the other";
  }
  if (r.elements.has_value() && FewUlps(*r.elements)) {
    return "a few units in the last place: another order of a sum, another "
           "library, compiler flag or instruction set";
  }
  if (r.trace->first.identity.phase == "reduction") {
    return "a collective: a rank left out, or an order that is not written";
  }
  return "another program at this operation: compare the code of its kernel, "
         "and what it was built with";
}

}  // namespace

std::string LikelyCause(const BisectResult& r) {
  if (r.verdict == "manifest") return OfTheManifest(r);
  if (r.verdict == "data") {
    return "the token files, the tokenizer, or the reading of them: `explain` "
           "shows the sample's documents, `data verify` the files";
  }
  if (r.verdict == "state_after_load") {
    return "the state that was loaded is not the one that was saved: an entry "
           "or a scale that a load changes";
  }
  if (r.verdict == "operation") return OfAnOperation(r);
  if (r.verdict == "changed_between") {
    return "a write into memory that another operation owns, a buffer that is "
           "used again too early, or an operation that announces nothing";
  }
  if (r.verdict == "control_flow") {
    return "a decision that one of them took: a skipped step, a gradient "
           "computed once more, another number of micro-batches";
  }
  if (r.verdict == "received") {
    return "it parted in something earlier than the step that was traced";
  }
  return "";
}

}  // namespace lockstep
