// An update to run in tests: its state, the constants of one step, and a run of
// every device.

#ifndef MODEL_KERNELS_ADAMW_ADAMW_TESTING_H_
#define MODEL_KERNELS_ADAMW_ADAMW_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/device.h"
#include "model/kernels/adamw/adamw.h"
#include "model/kernels/testing.h"

namespace lockstep {

struct AdamWState {
  std::vector<float> grad, master, m, v;
  int64_t count() const { return static_cast<int64_t>(grad.size()); }
};

// The third step's.
inline AdamWArgs AdamWHyper() {
  return {.lr = 3e-3,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .eps = 1e-8,
          .weight_decay = 0.1,
          .clip = 0.7,
          .bias_correction1 = 1 - 0.9 * 0.9 * 0.9,
          .bias_correction2 = 1 - 0.95 * 0.95 * 0.95};
}

// master, m, v, runtime.
inline std::vector<TestMatrix> AdamWOutputs(const AdamWState& state,
                                            DType runtime) {
  const TestMatrix flat(DType::kF32, 1, state.count());
  return {flat, flat, flat, TestMatrix(runtime, 1, state.count())};
}

inline std::vector<TestMatrix> RunAdamWEverywhere(const AdamWState& state,
                                                  DType runtime) {
  return ExpectSameOnEveryDevice(
      AdamWOutputs(state, runtime),
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        std::copy(state.master.begin(), state.master.end(),
                  outputs[0].as<float>());
        std::copy(state.m.begin(), state.m.end(), outputs[1].as<float>());
        std::copy(state.v.begin(), state.v.end(), outputs[2].as<float>());
        AdamWArgs args = AdamWHyper();
        args.n = state.count();
        args.grad = state.grad.data();
        args.master = outputs[0].as<float>();
        args.m = outputs[1].as<float>();
        args.v = outputs[2].as<float>();
        args.runtime = outputs[3].data();
        args.runtime_dtype = runtime;
        AdamW(device, args);
      });
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_ADAMW_ADAMW_TESTING_H_
