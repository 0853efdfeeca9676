// Writes tests/golden/debug_run.json anew, to stdout:
//
//   bazel run //tests/golden:debug_run >new.json; mv new.json
//   tests/golden/debug_run.json
//
// Only where the contract's numbers were changed on purpose; the commit says
// which clause, and why.
#include <cstdio>

#include "tests/golden/debug_run.h"

int main() {
  using lockstep::Json;
  Json file;
  for (const std::string& mode : lockstep::GoldenModes()) {
    file[mode] = lockstep::RecordDebugRun(mode, lockstep::BestIsa());
  }
  std::printf("%s\n", file.dump(2).c_str());
  return 0;
}
