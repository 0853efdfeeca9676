// A product by somebody else's library, on the operands of ours.
//
// What it is: oneDNN's matmul, if this build has it (--define=lockstep_onednn=
// on). What it is not: a way to compute: it has an order of its own, and is
// only ever timed.
#ifndef LOCKSTEP_TOOLS_BENCH_PEER_PRODUCT_H_
#define LOCKSTEP_TOOLS_BENCH_PEER_PRODUCT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/kernels/matmul/matmul.h"

namespace lockstep {

class PeerProduct {
 public:
  virtual ~PeerProduct() = default;
  // One product, on the threads that were asked for.
  virtual void Multiply() = 0;

  // args: one product without slices, whose operands outlive this; `packed`
  // lays b out as the library likes it, beforehand. InputError where the
  // library cannot do it or is absent.
  static absl::StatusOr<std::unique_ptr<PeerProduct>> Make(
      const MatmulArgs& args, int threads, bool packed);
};

// OK for "" and for "onednn" where it is there; else an InputError that says
// what to do.
absl::Status CheckProductPeer(const std::string& peer);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_PEER_PRODUCT_H_
