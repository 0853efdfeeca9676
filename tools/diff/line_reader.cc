// LineReader of metric_lines.h.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/diff/metric_lines.h"

namespace lockstep {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

absl::StatusOr<LineReader> LineReader::Open(FileSystem& fs,
                                            const std::string& path) {
  LineReader reader;
  reader.path_ = path;
  if (fs.Exists(path)) {
    LS_ASSIGN_OR_RETURN(reader.file_, fs.OpenRead(path));
  }
  return reader;
}

// Moves the rest of the buffer to its front and reads on.
absl::Status LineReader::Fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t kept = buffer_.size();
  const auto more = static_cast<size_t>(
      std::min<uint64_t>(kBufferBytes, file_->Size() - offset_));
  buffer_.resize(kept + more);
  LS_RETURN_IF_ERROR(file_->ReadAt(offset_, more, buffer_.data() + kept));
  offset_ += more;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string_view>> LineReader::Next() {
  if (file_ == nullptr) return std::nullopt;
  size_t searched = at_;
  size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos) {
    if (offset_ == file_->Size()) return std::nullopt;
    searched = buffer_.size() - at_;
    if (searched > kMostLineBytes) {
      return InputError(
          absl::StrCat("a line of more than ", kMostLineBytes, " bytes"), path_,
          "it was written to by something else than a trainer, or is damaged");
    }
    LS_RETURN_IF_ERROR(Fill());
    end = buffer_.find('\n', searched);
  }
  const std::string_view line =
      std::string_view(buffer_).substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

}  // namespace lockstep
