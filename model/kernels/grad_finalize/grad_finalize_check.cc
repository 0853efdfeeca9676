#include "model/device.h"
#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string GradFinalizeCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t n = 24'593;
  GradFinalizeArgs args;
  args.n = n;
  args.grad = check.InOut(1, n).as<float>();
  args.divisor = 3.0 * 1024;
  check.Add(static_cast<uint64_t>(FirstNonFinite(device, args.grad, n)));
  GradFinalize(device, args);

  std::vector<int64_t> sums;
  for (int64_t i = 0; i < n; ++i) sums.push_back((i - n / 2) * (i << 30));
  GradFinalizeGridArgs grid;
  grid.n = n;
  grid.sum = sums.data();
  grid.grad = check.OutputFloats(n);
  grid.exponent = 37;
  grid.divisor = 4093;
  GradFinalizeGrid(device, grid);

  CheckTensor& bad = check.InOut(1, n);
  bad.Set(0, n - 5, __builtin_inff());
  check.Add(static_cast<uint64_t>(FirstNonFinite(device, bad.as<float>(), n)));
  return check.Digest();
}

}  // namespace lockstep
