#include <string>
#include <utility>

#include "data/json_field.h"
#include "data/text_source.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

class JsonLinesSource : public TextSource {
 public:
  JsonLinesSource(std::unique_ptr<ByteStream> stream, std::string path,
                  std::string field)
      : stream_(std::move(stream)),
        path_(std::move(path)),
        field_(std::move(field)) {}

  absl::StatusOr<TextPiece> Next() override {
    TextPiece piece;
    std::string_view line;
    do {
      LS_ASSIGN_OR_RETURN(const bool more, NextLine(line));
      if (!more) {
        piece.end_of_source = true;
        return piece;
      }
      blank_lines_ += IsBlank(line) ? 1 : 0;
    } while (IsBlank(line));
    LS_ASSIGN_OR_RETURN(
        text_, JsonField(line, field_, path_ + ":" + std::to_string(line_)));
    piece.bytes = text_;
    piece.ends_document = true;
    return piece;
  }

  uint64_t bytes_done() const override { return stream_->bytes_read(); }
  int64_t blank_lines() const override { return blank_lines_; }

 private:
  // The next line without its newline, the last one also without any; false
  // when there is none.
  absl::StatusOr<bool> NextLine(std::string_view& line) {
    begun_.clear();
    while (true) {
      const size_t end = rest_.find('\n');
      if (end != std::string_view::npos) {
        line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!begun_.empty()) {
          line = begun_.append(line);
        }
        break;
      }
      begun_.append(rest_);
      LS_ASSIGN_OR_RETURN(rest_, stream_->Next());
      if (rest_.empty()) {
        line = begun_;
        if (line.empty()) {
          return false;
        }
        break;
      }
    }
    ++line_;
    return true;
  }

  const std::unique_ptr<ByteStream> stream_;
  const std::string path_;
  const std::string field_;
  std::string_view rest_;  // of the stream's piece
  std::string begun_;      // of a line that passes the end of a piece
  std::string text_;
  int64_t line_ = 0;
  int64_t blank_lines_ = 0;
};

}  // namespace

std::unique_ptr<TextSource> MakeJsonLinesSource(
    std::unique_ptr<ByteStream> stream, std::string path, std::string field) {
  return std::make_unique<JsonLinesSource>(std::move(stream), std::move(path),
                                           std::move(field));
}

}  // namespace lockstep
