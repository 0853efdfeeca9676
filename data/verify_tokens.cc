#include "data/verify_tokens.h"

#include "data/shard_list.h"
#include "data/token_file.h"
#include "data/token_shards.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::StatusOr<TokenVerification> VerifyPair(FileSystem& fs,
                                             const std::string& prefix) {
  TokenVerification result;
  const std::string side = prefix + ".blocks";
  const bool bare = !fs.Exists(side);
  if (!bare) {
    LS_ASSIGN_OR_RETURN(result.damage, VerifyBlocks(fs, prefix));
    if (!result.damage.empty()) {
      return result;
    }
  }
  LS_ASSIGN_OR_RETURN(const auto file, TokenFile::Open(fs, prefix));
  LS_RETURN_IF_ERROR(file->CheckTables());
  result.content_hash = file->content_hash();
  if (bare) {
    LS_ASSIGN_OR_RETURN(const BlockHashes hashes, file->Hash());
    LS_RETURN_IF_ERROR(WriteFileAtomically(fs, side, hashes.Serialize()));
    result.content_hash = hashes.ContentHash();
    result.written.push_back(side);
  }
  return result;
}

absl::StatusOr<std::vector<DataDamage>> DamageOfShards(
    FileSystem& fs, const std::vector<std::string>& paths) {
  std::vector<DataDamage> all;
  for (const std::string& path : paths) {
    const ShardPaths files(path);
    if (!fs.Exists(files.blocks)) {
      continue;
    }
    LS_ASSIGN_OR_RETURN(
        const std::vector<DataDamage> damage,
        VerifyBlocks(fs, files.bin, files.documents, files.blocks));
    all.insert(all.end(), damage.begin(), damage.end());
  }
  return all;
}

absl::StatusOr<TokenVerification> VerifyShards(FileSystem& fs,
                                               const std::string& path) {
  TokenVerification result;
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                      ListShards(fs, path));
  LS_ASSIGN_OR_RETURN(result.damage, DamageOfShards(fs, paths));
  if (!result.damage.empty()) {
    return result;
  }
  LS_ASSIGN_OR_RETURN(const auto shards, TokenShards::Open(fs, path));
  for (int64_t i = 0; i < shards->shard_count(); ++i) {
    const TokenShard& shard = shards->shard(i);
    if (!shard.has_side_files(fs)) {
      LS_RETURN_IF_ERROR(shard.WriteSideFiles(fs));
      result.written.push_back(ShardPaths(shard.path()).blocks);
    }
  }
  LS_RETURN_IF_ERROR(shards->IndexDocuments(fs, nullptr));
  LS_RETURN_IF_ERROR(shards->CheckTables());
  result.content_hash = shards->content_hash();
  return result;
}

}  // namespace

absl::StatusOr<TokenVerification> VerifyTokens(FileSystem& fs,
                                               const std::string& path) {
  return NamesShards(fs, path) ? VerifyShards(fs, path)
                               : VerifyPair(fs, TokenFilePrefix(path));
}

}  // namespace lockstep
