// The one list of benches. A new one is a file with its function, a line in
// benches.h and a line here.
#include "tools/bench/bench.h"
#include "tools/bench/benches.h"

namespace lockstep {

const std::vector<Bench>& AllBenches() {
  static const std::vector<Bench> all = {
      {"checkpoint", "copies, saves and loads of the state against the device",
       BenchCheckpoint},
      {"comm", "collectives and messages between ranks against copying",
       BenchComm},
      {"fingerprint", "fingerprints of tensors against reading them",
       BenchFingerprint},
      {"gemm", "matrix products against the register peak", BenchGemm},
      {"order", "which sample comes when: one source, a blend", BenchOrder},
      {"prepare", "text to token files against reading and hashing it",
       BenchPrepare},
      {"step", "a training step, its parts and its memory", BenchStep},
      {"trace", "records compared, and what each level adds to a step",
       BenchTrace},
  };
  return all;
}

}  // namespace lockstep
