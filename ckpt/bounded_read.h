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

// For what is small and no checkpoint rests on (lock, faults.json, a launch's
// manifest): InputError for a file of more than kMostJsonBytes.
absl::StatusOr<std::string> ReadSmallFile(FileSystem& file_system,
                                          const std::string& path);

// How a resume is told of its run's manifest or ledger that could not be read:
// what is no file there, or too large a one, is damage as a changed byte is,
// and ends with 3. Other errors stay.
absl::Status AsDamageAtResume(const absl::Status& read);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_BOUNDED_READ_H_
