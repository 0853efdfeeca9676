// The one hook that every operation of a step passes.
//
// A layer announces what it has just computed, by name, with its tensors.
// Fault injection and tracing hang here and nowhere else, so that what is
// traced is what can be broken, and a new operation is covered by announcing
// itself once. Not a dispatcher: an operation runs the same whether anyone
// listens or not, and with no listener an announcement costs one test (N12).

#ifndef DETERMINISM_OPERATION_H_
#define DETERMINISM_OPERATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/kernel_run.h"

namespace lockstep {

enum class Phase : uint8_t {
  kForward,
  kRecompute,
  kBackward,
  kReduction,
  kClip,
  kOptimizer,
  kConversion,
  kSave,
  kLoad,
  kEvaluate,
  kMessage,     // between the ranks of a pipeline
  kCollective,  // among the ranks of another axis
};
inline constexpr int kPhaseCount = 12;

// "forward", "recompute", ...: the names of traces and of `--fault ... phase=`.
const char* NameOf(Phase phase);
std::optional<Phase> PhaseFromName(std::string_view name);

// Positions [begin, end) along a dim of an unsharded tensor.
struct DimRange {
  int64_t begin;
  int64_t end;
  friend bool operator==(const DimRange&, const DimRange&) = default;
};

// A tensor, or what this rank has of one. Points to memory it does not own.
struct TensorRef {
  std::string_view name = {};  // "out", "dx", ...: within the operation
  DType dtype = {};
  std::vector<int64_t> shape = {};  // of what `data` holds, row-major
  void* data = nullptr;
  // Bytes between rows (a row is the last dim, all others are flattened);
  // 0 means that the whole is contiguous.
  int64_t row_stride_bytes = 0;
  // Of a tensor that ranks share: its unsharded shape, and for each dim the
  // ranges that are here, ascending, back to back in memory; a dim without
  // ranges is whole. Both empty: all of it is here (tensor_place.h).
  std::vector<int64_t> global_shape = {};
  std::vector<std::vector<DimRange>> held = {};
};

struct OperationEvent {
  int64_t step = 0;  // 1 is the first
  int attempt = 0;   // counts recomputations of one step (N5)
  Phase phase = Phase::kForward;
  std::string_view scope = {};      // "layers.3.mixer"
  std::string_view operation = {};  // "in_proj"
  int64_t micro_batch = 0;          // of this rank, from 0
  uint64_t first_sample = 0;        // sample_ids.front(); 0 if there is none
  int occurrence = 0;  // tells apart repetitions within a micro-batch
  std::span<const TensorRef> inputs = {};
  std::span<const TensorRef> outputs = {};  // what the operation has written
  // Global index of each sample of the micro-batch, ascending; empty for
  // samples that have none, as in an evaluation.
  std::span<const uint64_t> sample_ids = {};
  // That ran since the operation before; empty unless somebody asked for them
  // (model/device.h).
  std::span<const KernelRun> kernels = {};
  int threads = 0;  // that they ran on

  bool HoldsSample(uint64_t sample) const;
  // True if first_sample and a count say what sample_ids says.
  bool SamplesAreConsecutive() const;
};

// Called on the thread that ran the operation, after it finished. Only a fault
// injector may write to the outputs.
class OperationObserver {
 public:
  virtual ~OperationObserver() = default;
  virtual void OnOperation(const OperationEvent& event) = 0;
};

// Observers in the order they were added: the fault injector first, so that
// tracers see what the rest of the step will see. One object a rank.
class OperationHooks {
 public:
  // Not owned; outlives the hooks.
  void Add(OperationObserver* observer) { observers_.push_back(observer); }
  // False: spare yourself the making of an event.
  bool active() const { return !observers_.empty(); }
  void Notify(const OperationEvent& event) const {
    for (OperationObserver* observer : observers_) observer->OnOperation(event);
  }

 private:
  std::vector<OperationObserver*> observers_;
};

}  // namespace lockstep

#endif  // DETERMINISM_OPERATION_H_
