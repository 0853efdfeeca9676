// Where text comes from: an iterator over documents.
//
// A document arrives in pieces, so that a file larger than memory can be one
// document; a line of JSON, whose end must be seen before its text can be
// trusted, is one piece and is held in memory.
//
// Plain text: one file is one document, byte for byte, an empty one and one
// with odd bytes too (a byte tokenizer takes all 256). With document_bytes > 0
// a file is cut at blank lines into documents of at least that many bytes (the
// last may be shorter): a corpus of a few large files then has documents to
// hold out. The newlines of a cut stay with the document before it, so that
// the documents of a file, joined, are the file.
//
// JSON lines: the chosen field of each line is one document, an empty string
// too. A line of blanks is no document; such lines are counted.

#ifndef DATA_TEXT_SOURCE_H_
#define DATA_TEXT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "data/byte_stream.h"
#include "data/text_list.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TextPiece {
  std::string_view bytes;  // valid until the next call; may be empty
  bool ends_document = false;
  bool end_of_source = false;  // nothing else is set then
};

class TextSource {
 public:
  virtual ~TextSource() = default;
  // Not to be called again after an error.
  virtual absl::StatusOr<TextPiece> Next() = 0;
  // Bytes of the input files read so far, for progress.
  virtual uint64_t bytes_done() const = 0;
  // Lines of JSONL files that hold nothing.
  virtual int64_t blank_lines() const = 0;
};

// The documents of `files`; `fs` must outlive the source. A file that is not
// as it was listed is an InputError.
std::unique_ptr<TextSource> MakeTextSource(FileSystem& fs,
                                           std::vector<TextFile> files,
                                           const TextOptions& options);

// The documents of one file.
std::unique_ptr<TextSource> MakePlainSource(std::unique_ptr<ByteStream> stream,
                                            int64_t document_bytes);
std::unique_ptr<TextSource> MakeJsonLinesSource(
    std::unique_ptr<ByteStream> stream, std::string path, std::string field);

}  // namespace lockstep

#endif  // DATA_TEXT_SOURCE_H_
