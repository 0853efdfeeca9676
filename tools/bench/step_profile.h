// Where the time of a step goes, by phase and by kind of operation.
//
// What it is: an observer that reads the clock after every operation and adds
// what has passed since the last one to that operation's account. What it is
// not: a sampling profiler: work between two operations counts for the later
// one, and what follows the last for `other`. Why so: the accounts then add up
// to the step, and nothing is in none.
#ifndef LOCKSTEP_TOOLS_BENCH_STEP_PROFILE_H_
#define LOCKSTEP_TOOLS_BENCH_STEP_PROFILE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "determinism/clock.h"
#include "determinism/operation.h"
#include "model/device.h"
#include "tools/step_report.h"

namespace lockstep {

enum class StepKind : uint8_t {
  kProduct,
  kScan,
  kAttention,
  kNorm,
  kConv,
  kCrossEntropy,
  kOptimizer,
  kOther,
};
constexpr int kStepKinds = 8;
const char* NameOf(StepKind kind);

// Of an operation as layers announce it; kOther for one that is not known.
StepKind KindOf(std::string_view operation);

// What operations of one kind did in one phase: enough for a roofline
// (Williams et al., 2009).
struct KindWork {
  double seconds = 0;
  double flops = 0;  // of products, as the kernels count them
  double bytes = 0;  // of what the operations were given and left

  // Seconds that arithmetic, or memory alone, would take at these rates.
  double Roofline(double flops_per_s, double bytes_per_s) const {
    return std::max(flops / flops_per_s, bytes / bytes_per_s);
  }
};

struct StepTimes {
  double seconds = 0;  // of the step
  double tail = 0;     // of it, from the end of all backward passes on
  std::array<double, kPhaseCount> by_phase = {};
  double after = 0;  // behind the last operation, in no phase
  std::array<double, kStepKinds> by_kind = {};
  std::array<std::array<KindWork, kPhaseCount>, kStepKinds> work = {};
  // Bytes of the device in use at the end of a forward pass: parameters, state
  // and what backward needs of the layers.
  int64_t kept_bytes = 0;
};

class StepProfile : public OperationObserver {
 public:
  // Neither is owned.
  StepProfile(Device& device, Clock& clock) : device_(device), clock_(clock) {}

  void Begin();
  StepTimes End();
  void OnOperation(const OperationEvent& event) override;
  void Ended(StepPart part);

 private:
  double Lap();

  Device& device_;
  Clock& clock_;
  int64_t begin_ns_ = 0, last_ns_ = 0, tail_ns_ = 0;
  int64_t last_flops_ = 0;
  StepTimes times_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_STEP_PROFILE_H_
