// One operation of a step, kept in a file: what it was given and what two runs
// left.
//
// What it is: the operation's announced inputs, the outputs of both runs, and
// what its layer needs to do it again: the layer's input, its parameters, the
// positions of its samples. A safetensors file that any reader of that format
// opens. What it is not: a checkpoint, or a trace. Why so: the operation can be
// done again on another machine, without the runs.
//
// Tensors: input.N.NAME, a.N.NAME and b.N.NAME (outputs), of the rank that
// bisect named; layer.x, layer.gradient, layer.segments, parameter.NAME, whole.
// `__metadata__` has the rest as text.
#ifndef LOCKSTEP_TOOLS_SAVED_OPERATION_SAVED_OPERATION_H_
#define LOCKSTEP_TOOLS_SAVED_OPERATION_SAVED_OPERATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bisect/element_difference.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

// `kind` of a file's metadata.
inline constexpr char kSavedOperationKind[] = "lockstep operation 1";

struct SavedOperation {
  OperationIdentity identity = {};
  int rank = 0;
  std::string tensor = {};  // the output that differs first
  std::string run_a = {}, run_b = {};
  std::string recipe = {};  // resolved text, of the run a
  int64_t vocab = 0;        // of the model, which a tokenizer may decide
  uint64_t seed = 0;
  std::vector<uint64_t> samples = {};  // of the micro-batch, global
  // Why the layer cannot be done again by itself; empty: it can.
  std::string not_alone = {};

  std::vector<KeptTensor> inputs = {};
  std::vector<KeptTensor> outputs_a = {}, outputs_b = {};
  // "x", "gradient" (of the layer's output; for backward), "segments". Where
  // tensor ranks share out the tokens of a sample, "x.0", "x.1", ...
  std::vector<KeptTensor> layer = {};
  std::vector<KeptTensor> parameters = {};  // run-time weights, by name
};

// `path` is replaced.
absl::Status WriteSavedOperation(FileSystem& fs, const std::string& path,
                                 const SavedOperation& operation);
// InputError for a file that is none.
absl::StatusOr<SavedOperation> ReadSavedOperation(FileSystem& fs,
                                                  const std::string& path);

// 3 of "layers.3.mixer"; -1: not in a layer.
int64_t LayerOfScope(std::string_view scope);

// The tensor of that name; null: none.
const KeptTensor* FindKept(const std::vector<KeptTensor>& tensors,
                           const std::string& name);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SAVED_OPERATION_SAVED_OPERATION_H_
