#include "data/token_store.h"

#include "data/shard_list.h"
#include "data/token_file.h"
#include "data/token_shards.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<int64_t> TokenStore::DocumentOf(int64_t token) const {
  LS_CHECK(token >= 0 && token < token_count()) << token;
  // The last document that begins at or before `token`.
  int64_t low = 0;
  int64_t high = document_count();
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    LS_ASSIGN_OR_RETURN(const int64_t start, DocumentStart(middle));
    (start <= token ? low : high) = middle;
  }
  return low;
}

absl::Status TokenStore::BadId(const std::string& path, int64_t token,
                               int64_t id, int64_t vocab_size) const {
  LS_ASSIGN_OR_RETURN(const int64_t document, DocumentOf(token));
  LS_ASSIGN_OR_RETURN(const int64_t start, DocumentStart(document));
  return InputError(
      "token id " + std::to_string(id) + " is outside the vocabulary of " +
          std::to_string(vocab_size),
      path + ", document " + std::to_string(document) + ", position " +
          std::to_string(token - start) + " (token " + std::to_string(token) +
          " of the source), id " + std::to_string(id) + ", vocab " +
          std::to_string(vocab_size),
      "set model.vocab above the largest id, or prepare the data with the "
      "tokenizer of this model");
}

absl::StatusOr<std::unique_ptr<TokenStore>> OpenTokens(
    FileSystem& fs, const std::string& path, int64_t vocab_size,
    const DataNotice& notice) {
  if (NamesShards(fs, path)) {
    LS_ASSIGN_OR_RETURN(auto shards, TokenShards::Open(fs, path, vocab_size));
    LS_RETURN_IF_ERROR(shards->IndexDocuments(fs, notice));
    return shards;
  }
  LS_ASSIGN_OR_RETURN(std::unique_ptr<TokenStore> file,
                      TokenFile::Open(fs, path, vocab_size));
  if (file->content_hash().empty() && notice) {
    notice("data: " + file->prefix() +
           " has no .blocks file and is too large to be hashed at the start: "
           "the manifest holds its size alone");
  }
  return file;
}

}  // namespace lockstep
