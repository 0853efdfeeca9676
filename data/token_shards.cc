#include "data/token_shards.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "data/shard_list.h"
#include "data/token_decode.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The last of ascending `firsts`, but for its end, that is at most `value`.
int64_t PlaceOf(const std::vector<int64_t>& firsts, int64_t value) {
  const auto after = std::upper_bound(firsts.begin(), firsts.end() - 1, value);
  return after - firsts.begin() - 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenShards>> TokenShards::Open(
    FileSystem& fs, const std::string& path, int64_t vocab_size) {
  LS_CHECK(vocab_size > 0 && vocab_size <= kAnyVocabulary) << vocab_size;
  std::unique_ptr<TokenShards> all(new TokenShards());
  all->path_ = path;
  all->vocab_size_ = vocab_size;
  all->first_token_ = {0};
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                      ListShards(fs, path));
  for (const std::string& shard_path : paths) {
    LS_ASSIGN_OR_RETURN(auto shard, TokenShard::Open(fs, shard_path));
    if (!all->shards_.empty() && shard->type() != all->type()) {
      return InputError("shards of uint16 and of uint32 tokens stand together",
                        shard_path + " and " + all->shards_[0]->path(),
                        "make them two sources");
    }
    all->first_token_.push_back(all->token_count() + shard->token_count());
    all->shards_.push_back(std::move(shard));
  }
  if (all->token_count() == 0) {
    return InputError("the shards hold no tokens", path, "add shards");
  }
  return all;
}

absl::Status TokenShards::IndexDocuments(FileSystem& fs,
                                         const DataNotice& notice) {
  uint64_t bytes = 0;
  int64_t bare = 0;
  for (const auto& shard : shards_) {
    if (!shard->has_side_files(fs)) {
      bytes += shard->bytes();
      ++bare;
    }
  }
  if (bare > 0 && notice) {
    notice("data: " + path_ + ": " + std::to_string(bare) + " of " +
           std::to_string(shards_.size()) +
           " shards have no table of documents: reading " +
           std::to_string(bytes) +
           " bytes to find them; `lockstep data verify` does so once for all");
  }
  for (const auto& shard : shards_) {
    LS_RETURN_IF_ERROR(shard->Index(fs));
  }
  return CountDocuments();
}

absl::Status TokenShards::CheckTables() const {
  for (const auto& shard : shards_) {
    LS_RETURN_IF_ERROR(shard->CheckTable());
  }
  return absl::OkStatus();
}

absl::Status TokenShards::CountDocuments() {
  Sha256 hash;
  first_end_ = {0};
  for (const auto& shard : shards_) {
    hash.Update(shard->content_hash().data(), shard->content_hash().size());
    first_end_.push_back(first_end_.back() + shard->end_count());
  }
  content_hash_ = hash.Hex();
  leading_end_ = 0;
  if (first_end_.back() > 0) {
    const int64_t place = PlaceOf(first_end_, 0);
    LS_ASSIGN_OR_RETURN(const int64_t at, shards_[place]->EndAt(0));
    leading_end_ = first_token_[place] + at == 0 ? 1 : 0;
  }
  document_count_ = 1 + first_end_.back() - leading_end_;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TokenShards::DocumentStart(int64_t document) const {
  LS_CHECK(document >= 0 && document <= document_count_) << document;
  if (document == 0) {
    return 0;
  }
  if (document == document_count_) {
    return token_count();
  }
  const int64_t end = document - 1 + leading_end_;
  const int64_t place = PlaceOf(first_end_, end);
  LS_ASSIGN_OR_RETURN(const int64_t at,
                      shards_[place]->EndAt(end - first_end_[place]));
  return first_token_[place] + at;
}

absl::Status TokenShards::Read(int64_t first_token,
                               std::span<int32_t> out) const {
  const auto count = static_cast<int64_t>(out.size());
  LS_CHECK(first_token >= 0 && first_token <= token_count() - count)
      << first_token << " + " << count << " of " << token_count();
  std::vector<std::byte> stored;
  while (!out.empty()) {
    const int64_t place = PlaceOf(first_token_, first_token);
    const TokenShard& shard = *shards_[place];
    const int64_t here = first_token - first_token_[place];
    const int64_t run = std::min<int64_t>(static_cast<int64_t>(out.size()),
                                          shard.token_count() - here);
    stored.resize(static_cast<size_t>(run * shard.width()));
    LS_RETURN_IF_ERROR(shard.ReadBytes(here, run, stored.data()));
    const int64_t bad = DecodeTokens(type(), stored.data(), vocab_size_,
                                     out.first(static_cast<size_t>(run)));
    if (bad >= 0) {
      int64_t id = DecodeToken(type(), &stored[bad * shard.width()]);
      id = type() == TokenType::kI32 ? static_cast<uint32_t>(id) : id;
      return BadId(shard.path(), first_token + bad, id, vocab_size_);
    }
    out = out.subspan(static_cast<size_t>(run));
    first_token += run;
  }
  return absl::OkStatus();
}

std::vector<DataFileIdentity> TokenShards::Identities() const {
  uint64_t bytes = 0;
  for (const auto& shard : shards_) {
    bytes += shard->bytes();
  }
  return {{path_, bytes, content_hash_}};
}

}  // namespace lockstep
