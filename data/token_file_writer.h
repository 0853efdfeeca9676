// Writes a token file pair and its side file, streaming.
//
// Memory does not grow with the corpus but for 32 bytes a MiB of tokens: tokens
// go out in blocks of 1 MiB, each hashed by a thread (block_hasher.h), and the
// tables are spooled to temporary files, since the index puts counts and
// lengths in front of what is known last. Everything is written under temporary
// names; Finish removes an old index, renames .bin and .blocks and last .idx,
// which is therefore the commit mark: a pair with an index is complete. A
// document longer than 2^31 - 1 tokens becomes several sequences of one
// document, as int32 lengths demand.
//
// Not thread-safe; two writers on one prefix are the caller's mistake.

#ifndef DATA_TOKEN_FILE_WRITER_H_
#define DATA_TOKEN_FILE_WRITER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "data/block_hasher.h"
#include "data/token_format.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TokenFileSummary {
  int64_t tokens = 0;
  int64_t sequences = 0;
  int64_t documents = 0;
  std::string content_hash;  // 64 hex digits, see block_hash.h
};

class TokenFileWriter {
 public:
  // Creates PREFIX.*.tmp; the folder exists. `vocab_size` bounds the ids, and
  // the element type is TypeForVocabulary of it. `max_sequence_tokens` is for
  // tests.
  static absl::StatusOr<std::unique_ptr<TokenFileWriter>> Create(
      FileSystem& fs, const std::string& prefix, int64_t vocab_size,
      int64_t max_sequence_tokens = std::numeric_limits<int32_t>::max());

  // Removes the temporary files unless Finish succeeded.
  ~TokenFileWriter();

  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  // Tokens of the current document. An id outside the vocabulary is a bug of
  // the tokenizer (LS_CHECK).
  absl::Status Append(std::span<const int32_t> tokens);

  // The same for a vocabulary whose first 256 ids are bytes: each byte of
  // `text` is a token. Such a vocabulary is stored as uint16 (LS_CHECK).
  absl::Status AppendBytes(std::string_view text);

  // Ends the current document; one without tokens is LS_CHECKed.
  absl::Status EndDocument();

  // Ended so far.
  int64_t documents() const { return summary_.documents; }

  // Makes the files durable and gives them their names. At least one document
  // has been ended (LS_CHECK).
  absl::StatusOr<TokenFileSummary> Finish();

 private:
  TokenFileWriter(FileSystem& fs, const std::string& prefix, int64_t vocab_size,
                  int64_t max_sequence_tokens);

  // What Append and AppendBytes share: how many of `wanted` tokens go into the
  // block at once, and what follows when they are there.
  absl::StatusOr<int64_t> Room(size_t wanted);
  absl::Status Wrote(int64_t tokens);
  absl::Status FlushBlock();
  absl::Status EndSequence();
  absl::Status WriteIndex();
  absl::Status Commit();
  std::string Temporary(const char* suffix) const;

  FileSystem& fs_;
  const std::string prefix_;
  const int64_t vocab_size_;
  const int64_t max_sequence_tokens_;
  const TokenType type_;
  bool finished_ = false;

  std::unique_ptr<WritableFile> bin_;
  std::unique_ptr<WritableFile> lengths_;  // spooled int32 a sequence
  std::unique_ptr<WritableFile>
      documents_;  // spooled int64 a document: its end
  BlockHasher hasher_;
  BlockHasher::Buffer block_;  // kHashBlockBytes, or fewer at the end
  size_t block_used_ = 0;
  BlockHashes hashes_;
  int64_t sequence_tokens_ = 0;
  int64_t document_tokens_ = 0;
  TokenFileSummary summary_;
};

}  // namespace lockstep

#endif  // DATA_TOKEN_FILE_WRITER_H_
