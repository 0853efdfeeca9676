#include "ckpt/bounded_read.h"

#include <cerrno>
#include <system_error>

#include "absl/strings/match.h"
#include "determinism/first_line.h"

namespace lockstep {

absl::StatusOr<std::string> ReadBounded(FileSystem& file_system,
                                        const std::string& path,
                                        uint64_t most_bytes) {
  const absl::StatusOr<FileInfo> info = file_system.Stat(path);
  if (info.ok() && !info->is_dir && info->size > most_bytes) {
    return absl::DataLossError(
        "the file has " + std::to_string(info->size) +
        " bytes, and a sound one at most " + std::to_string(most_bytes) +
        "\n  where: " + path + "\n  do: restore the file from a backup");
  }
  return file_system.ReadFile(path);  // and what Stat could not say
}

absl::StatusOr<std::string> ReadSmallFile(FileSystem& file_system,
                                          const std::string& path) {
  auto text = ReadBounded(file_system, path, kMostJsonBytes);
  if (!absl::IsDataLoss(text.status())) return text;
  return absl::InvalidArgumentError(text.status().message());
}

absl::Status AsDamageAtResume(const absl::Status& read) {
  // Who may not read it can mend that, and has lost nothing.
  for (const int error : {EACCES, EPERM}) {
    if (absl::StrContains(FirstLine(read),
                          std::generic_category().message(error))) {
      return read;
    }
  }
  if (!absl::IsDataLoss(read) && !absl::IsInvalidArgument(read)) return read;
  return absl::FailedPreconditionError(read.message());
}

}  // namespace lockstep
