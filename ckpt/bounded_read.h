// The whole of one of a run's small files: never more memory than a sound one
// takes.
//
// What it is: ReadFile with a bound on the size. What it is not: a judgement of
// the contents. Why so: a file that something blew up (a sparse one of
// terabytes costs nothing to make) is damage with a message, and not the end of
// the process by lack of memory.
#ifndef LOCKSTEP_CKPT_BOUNDED_READ_H_
#define LOCKSTEP_CKPT_BOUNDED_READ_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// Of an index or a manifest: those of a hundred thousand tensors have a tenth.
inline constexpr uint64_t kMostJsonBytes = uint64_t{256} << 20;
// Of a ledger: of millions of events.
inline constexpr uint64_t kMostLedgerBytes = uint64_t{1} << 30;

// DataLoss for a file of more bytes; else as ReadFile.
absl::StatusOr<std::string> ReadBounded(FileSystem& file_system,
                                        const std::string& path,
                                        uint64_t most_bytes);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_BOUNDED_READ_H_
