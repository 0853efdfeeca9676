// A reader of one token file pair (PREFIX.bin, PREFIX.idx).
//
// For random access by token index over the concatenation of all documents,
// in any size: opening costs a few page reads whatever the length, and nothing
// is held in memory. Not for choosing samples (order.h, dataset.h).
//
// Every header field is checked against the files' sizes at Open. The tables
// are walked in full as long as they have at most kFullCheckEntries entries;
// above that each entry is checked when it is used, and CheckTables() walks
// them all (`data verify`). Ids are checked when they are read: an id outside
// the vocabulary must not reach an embedding, and a scan at Open would read
// terabytes.
//
// Immutable and safe to use from several threads.

#ifndef DATA_TOKEN_FILE_H_
#define DATA_TOKEN_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "data/checked_file.h"
#include "data/token_format.h"
#include "data/token_index.h"
#include "data/token_store.h"
#include "determinism/file_system.h"

namespace lockstep {

class TokenFile : public TokenStore {
 public:
  static constexpr int64_t kFullCheckEntries = int64_t{1} << 22;
  // Without a side file, a .bin up to this size is hashed at Open.
  static constexpr uint64_t kHashAtOpenBytes = uint64_t{256} << 20;

  // `prefix` is the path without ".bin"; one with ".bin" or ".idx" is taken as
  // well. `vocab_size` bounds the ids that Read lets pass. InputError for a
  // file that is missing, truncated or contradicts itself.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(
      FileSystem& fs, std::string_view prefix,
      int64_t vocab_size = kAnyVocabulary);

  int64_t token_count() const override {
    return static_cast<int64_t>(bin_bytes()) / idx_->width();
  }
  int64_t sequence_count() const { return idx_->sequence_count(); }
  int64_t document_count() const override { return idx_->document_count(); }
  TokenType type() const override { return idx_->type(); }
  const std::string& prefix() const override { return prefix_; }
  uint64_t bin_bytes() const { return bin_->size(); }
  uint64_t idx_bytes() const { return idx_->bytes(); }

  absl::Status Read(int64_t first_token, std::span<int32_t> out) const override;
  absl::StatusOr<int64_t> DocumentStart(int64_t document) const override {
    return idx_->DocumentStart(document, bin_bytes());
  }

  // Walks both tables: lengths against offsets, documents ascending.
  absl::Status CheckTables() const { return idx_->CheckTables(); }

  // 64 hex digits over the contents (block_hash.h), from the side file where
  // there is one; else computed at Open up to kHashAtOpenBytes; else empty.
  const std::string& content_hash() const override { return content_hash_; }
  std::vector<DataFileIdentity> Identities() const override;
  // Whether a side file stands beside the pair: then each block is checked.
  bool has_block_hashes() const { return has_block_hashes_; }

  // Hashes the whole pair as it is now.
  absl::StatusOr<BlockHashes> Hash() const;

 private:
  TokenFile() = default;

  absl::Status FindContentHash(FileSystem& fs);

  std::string prefix_;
  std::unique_ptr<CheckedFile> bin_;
  std::unique_ptr<TokenIndex> idx_;
  int64_t vocab_size_ = 0;
  std::string content_hash_;
  bool has_block_hashes_ = false;
};

// `path` without ".bin" or ".idx".
std::string TokenFilePrefix(std::string_view path);

}  // namespace lockstep

#endif  // DATA_TOKEN_FILE_H_
