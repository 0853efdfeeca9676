// The sweep over levels and threads of testing.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {

std::vector<TestMatrix> ExpectSameOnEveryDevice(std::vector<TestMatrix> outputs,
                                                const TestRun& run) {
  std::vector<TestMatrix> reference;
  uint8_t poison = kTestPoison;
  int64_t compared = 0;
  for (const Isa isa : PresentIsas()) {
    for (const int threads : {1, 2, 3, 8}) {
      poison = static_cast<uint8_t>(poison * 5 + 1);
      for (TestMatrix& output : outputs) output.Poison(poison);
      Device device(threads, isa);
      run(device, outputs);
      const bool is_first = reference.empty();
      if (is_first) reference = outputs;
      for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string what = "output " + std::to_string(i) + ", " +
                                 NameOf(isa) + ", " + std::to_string(threads) +
                                 " threads";
        EXPECT_TRUE(outputs[i].GapsHold(poison)) << what;
        if (is_first) continue;
        ExpectSameMatrix(reference[i], outputs[i], what);
        compared += outputs[i].rows() * outputs[i].columns();
      }
    }
  }
  EXPECT_GT(compared, 0) << "no output, so nothing was compared";
  return reference;
}

}  // namespace lockstep
