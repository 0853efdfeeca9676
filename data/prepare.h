// Text into token files: what `lockstep data prepare` does.
//
// Streams: memory holds one piece of text and one block of tokens, and what
// of a document the tokenizer must see before it can encode it: nothing for
// bytes, a line or the whole document for SentencePiece models. Every document
// ends with the tokenizer's end-of-document id, as Megatron's --append-eod.

#ifndef DATA_PREPARE_H_
#define DATA_PREPARE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/token_format.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"

namespace lockstep {

struct PrepareProgress {
  uint64_t bytes_done = 0;
  uint64_t bytes_total = 0;
  int64_t documents = 0;
  int64_t tokens = 0;
};

struct PrepareOptions {
  std::vector<std::string> inputs;  // files and folders, in order
  std::string output_prefix;        // its folder exists
  const Tokenizer* tokenizer = nullptr;
  int64_t document_bytes = 0;  // see text_source.h
  // Called about once per MiB of input and at the end; may be empty.
  std::function<void(const PrepareProgress&)> progress = {};
  std::string field = {};  // of JSON lines; empty: "text"
};

struct PrepareReport {
  int64_t files = 0;
  int64_t documents = 0;
  int64_t tokens = 0;        // end-of-document ids included
  int64_t unknown = 0;       // tokens for text that the tokenizer has no id for
  uint64_t text_bytes = 0;   // of all documents, unpacked
  uint64_t input_bytes = 0;  // of the files
  int64_t blank_lines = 0;   // of JSONL files, passed over
  TokenType type = TokenType::kU16;
  std::string content_hash;
  std::vector<std::string> hidden_files;  // passed over
};

// InputError for an output whose folder does not exist, before anything is
// read, and for inputs that cannot be read or hold nothing.
absl::StatusOr<PrepareReport> PrepareTokens(FileSystem& fs,
                                            const PrepareOptions& options);

}  // namespace lockstep

#endif  // DATA_PREPARE_H_
