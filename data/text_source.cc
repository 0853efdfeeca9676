#include "data/text_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class PlainSource : public TextSource {
 public:
  PlainSource(std::unique_ptr<ByteStream> stream, int64_t document_bytes)
      : stream_(std::move(stream)), document_bytes_(document_bytes) {
    LS_CHECK_GE(document_bytes, 0);
  }

  absl::StatusOr<TextPiece> Next() override {
    TextPiece piece;
    if (ended_) {
      piece.end_of_source = true;
      return piece;
    }
    if (rest_.empty()) {
      LS_ASSIGN_OR_RETURN(rest_, stream_->Next());
      ended_ = rest_.empty();
    }
    const size_t end = FindCut(rest_);
    piece.bytes = rest_.substr(0, end);
    piece.ends_document = ended_ || end < rest_.size();
    rest_.remove_prefix(end);
    document_so_far_ += static_cast<int64_t>(end);
    if (piece.ends_document) {
      document_so_far_ = 0;
      newlines_ = 0;
    }
    return piece;
  }

  uint64_t bytes_done() const override { return stream_->bytes_read(); }
  int64_t blank_lines() const override { return 0; }

 private:
  // The first byte of `rest` that begins the next document, or its size. A
  // carriage return belongs to its line's end.
  size_t FindCut(std::string_view rest) {
    if (document_bytes_ == 0) {
      return rest.size();
    }
    for (size_t i = SkipTooShort(rest); i < rest.size(); ++i) {
      if (newlines_ == 0) {
        // Nothing ends before the next line does.
        i = std::min(rest.find('\n', i), rest.size());
        newlines_ = i < rest.size() ? 1 : 0;
      } else if (rest[i] == '\n') {
        ++newlines_;
      } else if (rest[i] != '\r') {
        if (newlines_ >= 2) {
          return i;
        }
        newlines_ = 0;
      }
    }
    return rest.size();
  }

  // The first byte of `rest` at which the document may end, with newlines_ of
  // the run of line ends before it. No line is looked at on the way there: most
  // text has more lines than documents.
  size_t SkipTooShort(std::string_view rest) {
    const int64_t missing =
        std::max(document_bytes_ - document_so_far_, int64_t{0});
    const size_t skip = std::min(static_cast<size_t>(missing), rest.size());
    size_t run = skip;
    while (run > 0 && (rest[run - 1] == '\n' || rest[run - 1] == '\r')) {
      --run;
    }
    if (run > 0) {
      newlines_ = 0;
    }
    newlines_ += std::count(rest.begin() + static_cast<ptrdiff_t>(run),
                            rest.begin() + static_cast<ptrdiff_t>(skip), '\n');
    return skip;
  }

  const std::unique_ptr<ByteStream> stream_;
  const int64_t document_bytes_;
  std::string_view rest_;  // of the stream's piece
  bool ended_ = false;
  int64_t document_so_far_ = 0;
  int64_t newlines_ = 0;  // in the run before the next byte
};

// One file after another.
class FilesSource : public TextSource {
 public:
  FilesSource(FileSystem& fs, std::vector<TextFile> files, TextOptions options)
      : fs_(fs), files_(std::move(files)), options_(std::move(options)) {}

  absl::StatusOr<TextPiece> Next() override {
    while (true) {
      if (source_ == nullptr) {
        if (next_file_ == files_.size()) {
          TextPiece piece;
          piece.end_of_source = true;
          return piece;
        }
        LS_RETURN_IF_ERROR(Open(files_[next_file_++]));
      }
      LS_ASSIGN_OR_RETURN(const TextPiece piece, source_->Next());
      if (!piece.end_of_source) {
        return piece;
      }
      bytes_before_ += source_->bytes_done();
      blanks_before_ += source_->blank_lines();
      source_.reset();
    }
  }

  uint64_t bytes_done() const override {
    return bytes_before_ + (source_ == nullptr ? 0 : source_->bytes_done());
  }
  int64_t blank_lines() const override {
    return blanks_before_ + (source_ == nullptr ? 0 : source_->blank_lines());
  }

 private:
  absl::Status Open(const TextFile& file) {
    LS_ASSIGN_OR_RETURN(
        std::unique_ptr<ByteStream> stream,
        OpenByteStream(fs_, file.path, file.bytes, file.packing));
    if (file.json_lines) {
      source_ =
          MakeJsonLinesSource(std::move(stream), file.path,
                              options_.field.empty() ? "text" : options_.field);
    } else {
      source_ = MakePlainSource(std::move(stream), options_.document_bytes);
    }
    return absl::OkStatus();
  }

  FileSystem& fs_;
  const std::vector<TextFile> files_;
  const TextOptions options_;
  size_t next_file_ = 0;
  std::unique_ptr<TextSource> source_;  // of the current file
  uint64_t bytes_before_ = 0;           // of the files before it
  int64_t blanks_before_ = 0;
};

}  // namespace

std::unique_ptr<TextSource> MakePlainSource(std::unique_ptr<ByteStream> stream,
                                            int64_t document_bytes) {
  return std::make_unique<PlainSource>(std::move(stream), document_bytes);
}

std::unique_ptr<TextSource> MakeTextSource(FileSystem& fs,
                                           std::vector<TextFile> files,
                                           const TextOptions& options) {
  return std::make_unique<FilesSource>(fs, std::move(files), options);
}

}  // namespace lockstep
