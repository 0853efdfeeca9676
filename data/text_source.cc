#include "data/text_source.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

absl::Status RefuseOtherKinds(const std::string& path) {
  for (const std::string_view suffix : {".jsonl", ".gz", ".zst"}) {
    if (path.ends_with(suffix)) {
      return InputError(
          "reading " + std::string(suffix) + " files is not built yet", path,
          "convert it to plain text files");
    }
  }
  return absl::OkStatus();
}

absl::Status ListInto(FileSystem& fs, const std::string& path, bool in_folder,
                      TextFileList& list);

absl::Status ListFolder(FileSystem& fs, const std::string& folder,
                        TextFileList& list) {
  auto names = fs.List(folder);
  if (!names.ok()) {
    return AsInputError(names.status());
  }
  for (const std::string& name : *names) {
    const std::string path = JoinPath(folder, name);
    if (name.starts_with('.')) {
      list.hidden_files.push_back(path);
      continue;
    }
    LS_RETURN_IF_ERROR(ListInto(fs, path, /*in_folder=*/true, list));
  }
  return absl::OkStatus();
}

absl::Status ListInto(FileSystem& fs, const std::string& path, bool in_folder,
                      TextFileList& list) {
  if (!fs.Exists(path)) {
    return InputError("no such text file or folder", path,
                      "check the path; in a recipe it is relative to the "
                      "recipe's folder");
  }
  auto info = fs.Stat(path);
  if (!info.ok()) {
    return AsInputError(info.status());
  }
  if (info->is_dir && info->is_link && in_folder) {
    return InputError("a link to a folder inside a folder of text", path,
                      "name the folder it points to as an input of its own");
  }
  if (info->is_dir) {
    return ListFolder(fs, path, list);
  }
  LS_RETURN_IF_ERROR(RefuseOtherKinds(path));
  list.files.push_back({path, info->size});
  list.bytes += info->size;
  return absl::OkStatus();
}

class PlainTextSource : public TextSource {
 public:
  PlainTextSource(FileSystem& fs, std::vector<TextFile> files,
                  int64_t document_bytes)
      : fs_(fs), files_(std::move(files)), document_bytes_(document_bytes) {
    LS_CHECK_GE(document_bytes, 0);
  }

  absl::StatusOr<TextPiece> Next() override {
    TextPiece piece;
    if (position_ == buffer_.size()) {
      if (file_ == nullptr && next_file_ == files_.size()) {
        piece.end_of_source = true;
        return piece;
      }
      LS_RETURN_IF_ERROR(AsInputError(Fill()));
    }
    const std::string_view rest = std::string_view(buffer_).substr(position_);
    const size_t end = FindCut(rest);
    piece.bytes = rest.substr(0, end);
    position_ += end;
    bytes_done_ += end;
    document_so_far_ += static_cast<int64_t>(end);
    const bool file_ends =
        position_ == buffer_.size() && offset_ == file_->Size();
    piece.ends_document = end < rest.size() || file_ends;
    if (piece.ends_document) {
      document_so_far_ = 0;
      newlines_ = 0;
    }
    if (file_ends) {
      file_.reset();
    }
    return piece;
  }

  uint64_t bytes_done() const override { return bytes_done_; }

 private:
  // Reads the next piece of the current file, or the first of the next one.
  absl::Status Fill() {
    if (file_ == nullptr) {
      const TextFile& next = files_[next_file_++];
      LS_ASSIGN_OR_RETURN(file_, fs_.OpenRead(next.path));
      offset_ = 0;
      if (file_->Size() != next.bytes) {
        return InputError("the file changed while it was being read", next.path,
                          "start again when nothing writes to it");
      }
    }
    buffer_.resize(std::min(kPieceBytes, file_->Size() - offset_));
    position_ = 0;
    LS_RETURN_IF_ERROR(file_->ReadAt(offset_, buffer_.size(), buffer_.data()));
    offset_ += buffer_.size();
    return absl::OkStatus();
  }

  // The first byte of `rest` that begins the next document, or its size. A
  // carriage return belongs to its line's end.
  size_t FindCut(std::string_view rest) {
    if (document_bytes_ == 0) {
      return rest.size();
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] == '\n') {
        ++newlines_;
      } else if (rest[i] != '\r') {
        if (newlines_ >= 2 &&
            document_so_far_ + static_cast<int64_t>(i) >= document_bytes_) {
          return i;
        }
        newlines_ = 0;
      }
    }
    return rest.size();
  }

  FileSystem& fs_;
  const std::vector<TextFile> files_;
  const int64_t document_bytes_;
  size_t next_file_ = 0;
  std::unique_ptr<RandomAccessFile> file_;  // null between files
  uint64_t offset_ = 0;                     // read so far of file_
  std::string buffer_;
  size_t position_ = 0;  // handed out so far of buffer_
  uint64_t bytes_done_ = 0;
  int64_t document_so_far_ = 0;
  int64_t newlines_ = 0;  // in the run before the next byte
};

}  // namespace

absl::StatusOr<TextFileList> ListTextFiles(
    FileSystem& fs, const std::vector<std::string>& inputs) {
  TextFileList list;
  for (const std::string& input : inputs) {
    LS_RETURN_IF_ERROR(ListInto(fs, input, /*in_folder=*/false, list));
  }
  if (list.bytes == 0) {
    return InputError(
        "no text to prepare: " + std::to_string(list.files.size()) +
            " empty files and " + std::to_string(list.hidden_files.size()) +
            " hidden ones are all there is",
        inputs.empty() ? "(no inputs)" : inputs.front(),
        "name files or folders that hold text");
  }
  return list;
}

std::unique_ptr<TextSource> MakePlainTextSource(FileSystem& fs,
                                                std::vector<TextFile> files,
                                                int64_t document_bytes) {
  return std::make_unique<PlainTextSource>(fs, std::move(files),
                                           document_bytes);
}

}  // namespace lockstep
