// llm.c's shards in a row, as one store of tokens.
//
// The shards' tokens follow each other in the order of the files. A document
// begins at the first token and at every end-of-text token, which is its first
// token; one that a shard cuts goes on in the next. Counts are 64-bit though a
// shard's is 31 (karpathy/llm.c#822: 103 shards of 10^8 tokens were counted as
// 1.66 * 10^9).
//
// Open reads headers; documents are known after IndexDocuments. Safe to use
// from several threads then.

#ifndef DATA_TOKEN_SHARDS_H_
#define DATA_TOKEN_SHARDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/token_shard.h"
#include "data/token_store.h"
#include "determinism/file_system.h"

namespace lockstep {

class TokenShards : public TokenStore {
 public:
  // Opens what ListShards says of `path`. InputError for a shard that is none,
  // for shards of two widths, and where they hold no token.
  static absl::StatusOr<std::unique_ptr<TokenShards>> Open(
      FileSystem& fs, const std::string& path,
      int64_t vocab_size = kAnyVocabulary);

  // Finds where documents begin. Shards that lack the files which `data verify`
  // leaves are read through, and a notice says how many bytes that is.
  absl::Status IndexDocuments(FileSystem& fs, const DataNotice& notice);
  // Walks all tables: where documents begin, ascending. After IndexDocuments.
  absl::Status CheckTables() const;

  const std::string& prefix() const override { return path_; }
  TokenType type() const override { return shards_[0]->type(); }
  int64_t token_count() const override { return first_token_.back(); }
  int64_t shard_count() const { return static_cast<int64_t>(shards_.size()); }
  const TokenShard& shard(int64_t i) const { return *shards_[i]; }

  absl::Status Read(int64_t first_token, std::span<int32_t> out) const override;

  // After IndexDocuments.
  int64_t document_count() const override { return document_count_; }
  absl::StatusOr<int64_t> DocumentStart(int64_t document) const override;
  const std::string& content_hash() const override { return content_hash_; }
  // One for all shards: there may be thousands.
  std::vector<DataFileIdentity> Identities() const override;

 private:
  TokenShards() = default;
  absl::Status CountDocuments();

  std::string path_;
  int64_t vocab_size_ = 0;
  std::vector<std::unique_ptr<TokenShard>> shards_;
  // Of each shard, and of the row's end.
  std::vector<int64_t> first_token_;
  std::vector<int64_t> first_end_;  // end-of-text tokens before the shard
  int64_t document_count_ = 0;
  // End-of-text tokens that begin no document but the first: 1 or 0.
  int64_t leading_end_ = 0;
  std::string content_hash_;
};

}  // namespace lockstep

#endif  // DATA_TOKEN_SHARDS_H_
