// A result with something in every section, whose names try to be markup.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_FOR_TEST_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_FOR_TEST_H_

#include <string>

#include "tools/bisect/bisect.h"

namespace lockstep {

inline constexpr char kHostileName[] =
    "runs/</code><script>alert(1)</script>\"'&amp;\x01\xff";

inline RankParting PartingForTest(int rank) {
  RankParting parting = {.rank = rank, .kind = Parting::kOrigin};
  parting.identity = {.step = 7,
                      .phase = "forward",
                      .scope = "layers.0.<b>mixer",
                      .operation = "in_proj"};
  parting.tensor = "y<";
  parting.compared = 3;
  parting.different = 2;
  return parting;
}

inline TracedOperation OperationForTest(const std::string& scope,
                                        const std::string& operation,
                                        uint64_t lane) {
  TracedOperation traced;
  traced.identity = {
      .step = 7, .phase = "forward", .scope = scope, .operation = operation};
  traced.outputs = {{.name = "y<",
                     .dtype = "F32",
                     .shape = {2, 3},
                     .global_shape = {},
                     .held = {},
                     .value = {{lane, lane}}}};
  return traced;
}

inline BisectResult ResultForTest() {
  BisectResult r;
  r.a = {.path = kHostileName,
         .binary = "bin/<a>",
         .first_step = 1,
         .last_step = 12,
         .checkpoints = {2, 4, 8}};
  r.b = {.path = "runs/b",
         .first_step = 1,
         .last_step = 10,
         .checkpoints = {2, 4, 8}};
  r.equal_checkpoints = {2, 4};
  r.verdict = "operation";
  r.step = 7;
  r.began_at = 4;
  r.replays = 2;
  r.repeatable = true;
  r.fields = {"loss", "fingerprint.<grads>"};
  r.differences = {{"recipe<i>", "a & b", kHostileName, true}};
  TraceDifference trace;
  trace.first = PartingForTest(1);
  trace.ranks = {1};
  trace.partings = {PartingForTest(0), PartingForTest(1)};
  trace.partings[0].identity.operation = "out_proj";
  const std::vector<TracedOperation> sound = {
      OperationForTest("embeddings", "lookup", 1),
      OperationForTest("layers.0.<b>mixer", "in_proj", 2),
      OperationForTest("layers.0.<b>mixer", "out_proj", 3)};
  auto broken = sound;
  broken[1].outputs[0].value = {{9, 9}};
  broken[2].outputs[0].value = {{9, 9}};
  auto follows = sound;
  follows[2].outputs[0].value = {{9, 9}};
  r.tree = MakeScopeTree({{0, sound}, {1, sound}}, {{0, follows}, {1, broken}},
                         trace);
  r.trace = trace;
  KeptTensor a = {
      .name = "y<", .dtype = DType::kF32, .shape = {2, 3}, .bytes = {}};
  a.bytes = std::string(24, '\0');
  KeptTensor b = a;
  b.bytes[21] = 1;
  r.elements = CompareElements(a, b);
  r.map = MapDifference(a, b);
  r.cause = "a <cause>";
  r.certainty = {"sure & <certain>"};
  r.commands = {{"again", "lockstep bisect '<a>' b"}};
  r.notes = {"a note <br>"};
  return r;
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_FOR_TEST_H_
