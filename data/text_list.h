// Which files an input of text means, in which order, and of which kind.
//
// A folder is walked recursively in the byte order of its names, so that the
// order of documents does not depend on the file system. The kind follows from
// the name alone, which the user sees: .gz and .zst are unpacked, .jsonl (and
// .json, when a field is named) is a document a line, all else is plain text.
// Archives and columnar files are refused by name: as bytes they would train.

#ifndef DATA_TEXT_LIST_H_
#define DATA_TEXT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/byte_stream.h"
#include "determinism/file_system.h"

namespace lockstep {

// What a recipe or a command says about text.
struct TextOptions {
  int64_t document_bytes = 0;  // of plain text, see text_source.h
  std::string field = {};      // of JSON lines; empty: "text"
};

struct TextFile {
  std::string path;
  uint64_t bytes = 0;  // of the file itself, packed or not
  Packing packing = Packing::kNone;
  bool json_lines = false;
};

struct TextFileList {
  std::vector<TextFile> files;            // in order
  std::vector<std::string> hidden_files;  // in folders, with a leading dot
  uint64_t bytes = 0;
};

// Expands files and folders. A link to a file is followed; one to a folder,
// inside a folder, is refused, since it may lead back. InputError for a path
// that is missing, for a kind of file that is not text, for an option that
// concerns none of the files, or when the files hold no byte.
absl::StatusOr<TextFileList> ListTextFiles(
    FileSystem& fs, const std::vector<std::string>& inputs,
    const TextOptions& options = {});

}  // namespace lockstep

#endif  // DATA_TEXT_LIST_H_
