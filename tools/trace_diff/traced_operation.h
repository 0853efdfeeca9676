// One operation of a trace, as two traces are compared.
//
// What it is: the identity of a record and the fingerprints of its tensors.
// What it is not: the record itself (determinism/trace.proto), whose order in a
// file says nothing: two runs that do the same work may write it in another
// order. Why so: operations are matched by what they are (step, phase, scope,
// name, sample), never by where they stand.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACED_OPERATION_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACED_OPERATION_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/trace.pb.h"

namespace lockstep {

// Of the elements that a rank held, where the trace has them.
struct TracedValues {
  double absmax = 0;
  double rms = 0;
  int64_t non_finite = 0;
  std::vector<int64_t> elements = {};  // places in the whole
  std::vector<double> sample = {};
  std::string contents = {};
};

struct TracedTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;         // of what the rank held
  std::vector<int64_t> global_shape;  // of the whole; empty: the rank had it
  std::vector<std::vector<int64_t>> held;
  Fingerprint value;
  std::optional<TracedValues> values = std::nullopt;

  int64_t count() const;
  const std::vector<int64_t>& whole() const {
    return global_shape.empty() ? shape : global_shape;
  }
  // Values do not count: a trace may lack them, and the fingerprint is of all.
  friend bool operator==(const TracedTensor& a, const TracedTensor& b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
           a.global_shape == b.global_shape && a.held == b.held &&
           a.value == b.value;
  }
};

// A phase of a trace that has no operations is one operation "(phase)" with one
// output, and a module of it one "(module)"; the fields after a step are
// "(step)" with an output each.
struct OperationIdentity {
  int64_t step = 0;
  int64_t attempt = 0;
  std::string phase;
  std::string scope;
  std::string operation;
  uint64_t first_sample = 0;
  int64_t occurrence = 0;  // among those that are equal in all else

  friend auto operator<=>(const OperationIdentity&,
                          const OperationIdentity&) = default;
};
// "step 7, backward, layers.3.mixer.in_proj, sample 52".
std::string ToString(const OperationIdentity& identity);

struct TracedOperation {
  OperationIdentity identity;
  int64_t micro_batch = 0;
  std::vector<TracedTensor> inputs;
  std::vector<TracedTensor> outputs;
};

inline constexpr char kPhaseOperation[] = "(phase)";
inline constexpr char kModuleOperation[] = "(module)";
inline constexpr char kStepOperation[] = "(step)";

// All but the occurrence, which whoever reads a whole trace counts.
TracedOperation OperationOf(const trace::Record& record);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACED_OPERATION_H_
