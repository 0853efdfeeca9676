// Traces that no run wrote, as large as one likes.
#ifndef LOCKSTEP_TOOLS_BENCH_TRACE_RECORDS_H_
#define LOCKSTEP_TOOLS_BENCH_TRACE_RECORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// One rank's trace of at least `records` operations, with inputs and the
// kernels that ran, in the new folder. From `other_from` on (below 0: never)
// every tensor's bits are others.
absl::Status WriteTraceRecords(FileSystem& fs, const std::string& folder,
                               int64_t records, int64_t other_from);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_TRACE_RECORDS_H_
