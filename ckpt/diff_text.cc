// A diff of two checkpoints as a person and as a program reads it.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/diff.h"
#include "ckpt/sealed_json.h"

namespace lockstep {
namespace {

OrderedJson SideJson(const CheckpointIndex& index) {
  return {{"step", index.step},
          {"run_id", index.run_id},
          {"state", index.state_fingerprint}};
}

std::string SideText(const char* name, const CheckpointIndex& index) {
  return absl::StrCat(name, "  step ", index.step, " of run ", index.run_id,
                      ", state ", index.state_fingerprint, "\n");
}

std::string Line(const TensorDifference& d) {
  if (d.what != "contents") {
    return absl::StrCat(d.name, ": ", d.what, " ", d.a,
                        d.a.empty() || d.b.empty() ? "" : " and ", d.b, "\n");
  }
  const std::string values = absl::StrCat(d.a, " and ", d.b);
  if (d.bytes) {
    return absl::StrCat(d.name, ": ", d.different, " of ", d.elements,
                        " bytes, from byte ", absl::StrJoin(d.first, ","),
                        " on: ", values, "\n");
  }
  if (d.elements == 1) {
    return absl::StrCat(d.name, ": ", values, ", ", d.max_ulp, " apart\n");
  }
  return absl::StrCat(d.name, ": ", d.different, " of ", d.elements,
                      " elements, first [", absl::StrJoin(d.first, ","),
                      "]: ", values, "; at most ", d.max_ulp, " ulp apart\n");
}

}  // namespace

std::string DiffToText(const CheckpointDiff& diff) {
  std::string text = SideText("A", diff.a) + SideText("B", diff.b);
  for (const TensorDifference& d : diff.differences) text += Line(d);
  if (!diff.differences.empty()) {
    absl::StrAppend(&text, diff.differences.size(), " differ\n");
  } else if (diff.quick) {
    absl::StrAppend(&text, "equal by the fingerprints of their indices: all ",
                    diff.a.tensors.size(), " tensors of the state\n");
  } else {
    absl::StrAppend(&text, "equal: all ", diff.a.tensors.size(),
                    " tensors of the state, to the bit\n");
  }
  if (diff.quick) {
    text +=
        "--quick: what has equal fingerprints was not read; damage to it would "
        "not show here\n";
  }
  return text;
}

std::string DiffToJson(const CheckpointDiff& diff) {
  OrderedJson list = OrderedJson::array();
  for (const TensorDifference& d : diff.differences) {
    list.push_back({{"name", d.name},
                    {"what", d.what},
                    {"a", d.a},
                    {"b", d.b},
                    {"elements", d.elements},
                    {"different", d.different},
                    {"first", d.first},
                    {"max_ulp", d.max_ulp}});
  }
  return CompactJson({{"equal", diff.differences.empty()},
                      {"quick", diff.quick},
                      {"a", SideJson(diff.a)},
                      {"b", SideJson(diff.b)},
                      {"tensors", diff.a.tensors.size()},
                      {"differences", list}});
}

}  // namespace lockstep
