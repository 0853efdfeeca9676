// Where text comes from: an iterator over documents.
//
// A document arrives in pieces of bounded size, so that a file larger than
// memory can be one document. The interface is what JSONL and compressed
// files will implement; plain text files are here. A folder is walked in the
// byte order of its names, recursively, so that the order of documents does
// not depend on the file system.
//
// Plain text: one file is one document, byte for byte, an empty one and one
// with odd bytes too (a byte tokenizer takes all 256). With document_bytes > 0
// a file is cut at blank lines into documents of at least that many bytes (the
// last may be shorter): a corpus of a few large files then has documents to
// hold out. The newlines of a cut stay with the document before it, so that
// the documents of a file, joined, are the file.

#ifndef DATA_TEXT_SOURCE_H_
#define DATA_TEXT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  // Input bytes handed out so far, for progress.
  virtual uint64_t bytes_done() const = 0;
};

struct TextFile {
  std::string path;
  uint64_t bytes = 0;
};

struct TextFileList {
  std::vector<TextFile> files;            // in order
  std::vector<std::string> hidden_files;  // in folders, with a leading dot
  uint64_t bytes = 0;
};

// Expands files and folders. A link to a file is followed; one to a folder,
// inside a folder, is refused, since it may lead back. InputError for a path
// that is missing, for a kind of file that is not built yet (.jsonl, .gz,
// .zst), or when the files hold no byte.
absl::StatusOr<TextFileList> ListTextFiles(
    FileSystem& fs, const std::vector<std::string>& inputs);

// The documents of `files`; `fs` must outlive the source. A file that is not
// as it was listed is an InputError.
std::unique_ptr<TextSource> MakePlainTextSource(FileSystem& fs,
                                                std::vector<TextFile> files,
                                                int64_t document_bytes);

}  // namespace lockstep

#endif  // DATA_TEXT_SOURCE_H_
