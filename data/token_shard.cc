#include "data/token_shard.h"

#include <array>
#include <utility>

#include "data/data_error.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct ShardKind {
  int32_t magic;
  int32_t version;
  TokenType type;
  int64_t end_token;  // stands before each document
};

// data_common.py's HEADERS_INFO, and the end-of-text ids of the two tokenizers.
constexpr std::array<ShardKind, 2> kKinds = {{
    {20240520, 1, TokenType::kU16, 50256},
    {20240801, 7, TokenType::kI32, 128000},
}};

constexpr char kHint[] =
    "name shards that llm.c's dev/data scripts wrote, or a .bin with its .idx";

}  // namespace

ShardPaths::ShardPaths(const std::string& path) : bin(path) {
  const std::string stem =
      path.ends_with(".bin") ? path.substr(0, path.size() - 4) : path;
  documents = stem + ".documents";
  blocks = stem + ".blocks";
}

absl::StatusOr<std::unique_ptr<TokenShard>> TokenShard::Open(
    FileSystem& fs, const std::string& path) {
  std::unique_ptr<TokenShard> shard(new TokenShard(path));
  LS_ASSIGN_OR_RETURN(shard->bin_, CheckedFile::Open(fs, path));
  LS_RETURN_IF_ERROR(shard->ParseHeader());
  return shard;
}

absl::Status TokenShard::ParseHeader() {
  if (bytes() < kShardHeaderBytes) {
    return InputError("not a shard of tokens: " + std::to_string(bytes()) +
                          " bytes, and the header alone takes " +
                          std::to_string(kShardHeaderBytes),
                      path(), kHint);
  }
  std::byte header[12];
  LS_RETURN_IF_ERROR(bin_->Read(0, sizeof(header), header));
  const auto magic = LoadLittle<int32_t>(&header[0]);
  const auto version = LoadLittle<int32_t>(&header[4]);
  const auto count = LoadLittle<int32_t>(&header[8]);
  const ShardKind* kind = nullptr;
  for (const ShardKind& known : kKinds) {
    kind = known.magic == magic ? &known : kind;
  }
  if (kind == nullptr) {
    return InputError("not a shard of tokens: its magic number is " +
                          std::to_string(magic) +
                          ", and known are 20240520 (uint16) and 20240801 "
                          "(uint32)",
                      path(), kHint);
  }
  if (version != kind->version) {
    return InputError("a shard of version " + std::to_string(version) +
                          "; known of magic number " + std::to_string(magic) +
                          " is " + std::to_string(kind->version),
                      path(), kHint);
  }
  type_ = kind->type;
  end_token_ = kind->end_token;
  const uint64_t tokens = bytes() - kShardHeaderBytes;
  if (count < 0 || tokens != static_cast<uint64_t>(count * width())) {
    return InputError("the shard has " + std::to_string(tokens) +
                          " bytes of tokens, and its header counts " +
                          std::to_string(count) + " of " +
                          std::to_string(width()) +
                          " bytes: it is truncated, or its header is wrong",
                      path(), "fetch or write the shard again");
  }
  token_count_ = count;
  return absl::OkStatus();
}

absl::Status TokenShard::ReadBytes(int64_t first, int64_t count,
                                   std::byte* out) const {
  LS_CHECK(first >= 0 && count >= 0 && first <= token_count_ - count)
      << first << " + " << count << " of " << token_count_;
  return bin_->Read(kShardHeaderBytes + static_cast<uint64_t>(first * width()),
                    static_cast<size_t>(count * width()), out);
}

}  // namespace lockstep
