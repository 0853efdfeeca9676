// Tokens of many documents by position, whatever the files are.
//
// What it is: the one interface over Megatron's pairs (token_file.h) and
// llm.c's shards (token_shards.h): all tokens in one row, and where each
// document begins. What it is not: samples, splits or an order (data_source.h).
// Why so: sources of both kinds stand in one blend, and nothing above asks how
// tokens are stored.
//
// Immutable once open and safe to use from several threads.

#ifndef DATA_TOKEN_STORE_H_
#define DATA_TOKEN_STORE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/token_format.h"
#include "determinism/file_system.h"

namespace lockstep {

// One line of what was done, for the log.
using DataNotice = std::function<void(const std::string&)>;

inline constexpr int64_t kAnyVocabulary =
    int64_t{std::numeric_limits<int32_t>::max()} + 1;

// For the manifest: the two files of a pair, or a path and all its shards.
// `sha256` is the content hash, empty where a large foreign pair has none.
struct DataFileIdentity {
  std::string path;
  uint64_t size = 0;
  std::string sha256;
};

class TokenStore {
 public:
  virtual ~TokenStore() = default;

  // What names it: a pair's prefix, or the path that stands for the shards.
  virtual const std::string& prefix() const = 0;
  virtual TokenType type() const = 0;
  virtual int64_t token_count() const = 0;
  virtual int64_t document_count() const = 0;

  // Tokens first_token .. first_token + out.size() - 1, widened to int32.
  // The range must lie inside (LS_CHECK). InputError for an id outside the
  // vocabulary, naming file, document, position, id and vocab, and for a file
  // that is not what it was (checked_file.h).
  virtual absl::Status Read(int64_t first_token,
                            std::span<int32_t> out) const = 0;

  // First token of document i; token_count() for i == document_count().
  // InputError where a table contradicts itself.
  virtual absl::StatusOr<int64_t> DocumentStart(int64_t document) const = 0;

  // The document that holds `token` (binary search); empty documents hold
  // none.
  absl::StatusOr<int64_t> DocumentOf(int64_t token) const;

  // 64 hex digits over the contents, or empty where they are not known.
  virtual const std::string& content_hash() const = 0;
  virtual std::vector<DataFileIdentity> Identities() const = 0;

 protected:
  // The error for an id outside the vocabulary; `path` is the file's, and
  // `token` counts from the store's first.
  absl::Status BadId(const std::string& path, int64_t token, int64_t id,
                     int64_t vocab_size) const;
};

// Opens what `path` names: shards if it is a folder, a pattern, a list or a
// .bin file without an .idx beside it (shard_list.h), else a pair.
absl::StatusOr<std::unique_ptr<TokenStore>> OpenTokens(
    FileSystem& fs, const std::string& path, int64_t vocab_size,
    const DataNotice& notice);

}  // namespace lockstep

#endif  // DATA_TOKEN_STORE_H_
