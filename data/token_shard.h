// One shard of tokens as llm.c writes them (dev/data/data_common.py).
//
// A header of 256 int32 (magic, version, count of tokens, zeros), then the
// tokens: uint16 under GPT-2's magic, uint32 under Llama 3's. Nothing says
// where documents begin but the end-of-text token before each, so that all
// tokens must be read once to know. `data verify` does it once for all: it
// leaves NAME.documents (where those tokens stand) and NAME.blocks (block
// hashes of both, block_hash.h). Without them Index() reads the shard through.
//
// Not for several shards in a row (token_shards.h). Immutable after Index and
// safe to use from several threads.

#ifndef DATA_TOKEN_SHARD_H_
#define DATA_TOKEN_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "data/checked_file.h"
#include "data/token_format.h"
#include "determinism/file_system.h"

namespace lockstep {

inline constexpr uint64_t kShardHeaderBytes = 256 * 4;

// The files of one shard.
struct ShardPaths {
  explicit ShardPaths(const std::string& path);
  std::string bin;
  std::string documents;
  std::string blocks;
};

class TokenShard {
 public:
  // Reads the header alone. InputError for one that is not llm.c's, and for a
  // file that has not the bytes that its header counts.
  static absl::StatusOr<std::unique_ptr<TokenShard>> Open(
      FileSystem& fs, const std::string& path);

  const std::string& path() const { return paths_.bin; }
  int64_t token_count() const { return token_count_; }
  // kI32 stands for uint32: an id of 2^31 or more is in no vocabulary.
  TokenType type() const { return type_; }
  int64_t width() const { return WidthOf(type_); }
  int64_t end_token() const { return end_token_; }
  uint64_t bytes() const { return bin_->size(); }

  // Whether `data verify` has left its two files.
  bool has_side_files(FileSystem& fs) const;

  // Finds out where end-of-text tokens stand: from the side files, or by
  // reading all tokens.
  absl::Status Index(FileSystem& fs);

  // How many there are, and the position of number i in the shard. After Index.
  int64_t end_count() const { return end_count_; }
  absl::StatusOr<int64_t> EndAt(int64_t i) const;

  // InputError unless the positions ascend and lie inside. After Index.
  absl::Status CheckTable() const;

  // Bytes of `count` tokens from `first` on, which lie inside (LS_CHECK).
  absl::Status ReadBytes(int64_t first, int64_t count, std::byte* out) const;

  // After Index.
  const std::string& content_hash() const { return content_hash_; }

  // Reads the shard through and writes its side files.
  absl::Status WriteSideFiles(FileSystem& fs) const;

 private:
  // What one reading finds.
  struct Scan {
    BlockHashes hashes;
    std::vector<uint32_t> ends;
    std::string documents;  // the side file's bytes
  };

  explicit TokenShard(const std::string& path) : paths_(path) {}
  absl::Status ParseHeader();
  absl::StatusOr<Scan> ReadThrough() const;
  absl::Status OpenSideFiles(FileSystem& fs);
  absl::Status ParseDocuments();

  ShardPaths paths_;
  std::unique_ptr<CheckedFile> bin_;
  TokenType type_ = TokenType::kU16;
  int64_t token_count_ = 0;
  int64_t end_token_ = 0;
  int64_t end_count_ = 0;
  std::vector<uint32_t> ends_;              // found by reading, or
  std::unique_ptr<CheckedFile> documents_;  // NAME.documents
  std::string content_hash_;
};

}  // namespace lockstep

#endif  // DATA_TOKEN_SHARD_H_
