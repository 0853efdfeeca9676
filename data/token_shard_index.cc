// Where the documents of a shard begin: its side files, and how they are made.

#include <algorithm>
#include <cstring>
#include <utility>

#include "data/data_error.h"
#include "data/token_shard.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// NAME.documents, see FORMAT.md.
constexpr char kMagic[8] = {'L', 'S', 'S', 'H', 'A', 'R', 'D', 'S'};
constexpr uint64_t kVersion = 1;
constexpr uint64_t kTableAt = 8 + 4 * 8;
// Of the table, per read.
constexpr int64_t kChunkEntries = int64_t{1} << 16;

template <typename T>
void FindEnds(const std::byte* bytes, int64_t count, int64_t first, T end_token,
              std::vector<uint32_t>& ends) {
  for (int64_t i = 0; i < count; ++i) {
    if (LoadLittle<T>(bytes + i * static_cast<int64_t>(sizeof(T))) ==
        end_token) {
      ends.push_back(static_cast<uint32_t>(first + i));
    }
  }
}

std::string Documents(int64_t end_token, int64_t tokens,
                      const std::vector<uint32_t>& ends) {
  std::string out(kMagic, sizeof(kMagic));
  AppendLittle<uint64_t>(kVersion, out);
  AppendLittle<uint64_t>(static_cast<uint64_t>(end_token), out);
  AppendLittle<uint64_t>(static_cast<uint64_t>(tokens), out);
  AppendLittle<uint64_t>(ends.size(), out);
  for (const uint32_t at : ends) {
    AppendLittle(at, out);
  }
  return out;
}

}  // namespace

bool TokenShard::has_side_files(FileSystem& fs) const {
  return fs.Exists(paths_.blocks);
}

// Whole blocks of the file, the header in the first one.
absl::StatusOr<TokenShard::Scan> TokenShard::ReadThrough() const {
  Scan scan;
  scan.hashes.bin_bytes = bytes();
  std::string block(kHashBlockBytes, '\0');
  for (uint64_t from = 0; from < bytes(); from += kHashBlockBytes) {
    const size_t size = std::min(kHashBlockBytes, bytes() - from);
    LS_RETURN_IF_ERROR(bin_->Read(from, size, block.data()));
    scan.hashes.blocks.push_back(DigestOf(block.data(), size));
    const size_t skip = from == 0 ? kShardHeaderBytes : 0;
    const auto* tokens = reinterpret_cast<const std::byte*>(&block[skip]);
    const auto count = static_cast<int64_t>(size - skip) / width();
    const int64_t first =
        static_cast<int64_t>(from + skip - kShardHeaderBytes) / width();
    if (type_ == TokenType::kU16) {
      FindEnds(tokens, count, first, static_cast<uint16_t>(end_token_),
               scan.ends);
    } else {
      FindEnds(tokens, count, first, static_cast<uint32_t>(end_token_),
               scan.ends);
    }
  }
  scan.documents = Documents(end_token_, token_count_, scan.ends);
  scan.hashes.idx_bytes = scan.documents.size();
  scan.hashes.idx = DigestOf(scan.documents.data(), scan.documents.size());
  return scan;
}

absl::Status TokenShard::Index(FileSystem& fs) {
  if (has_side_files(fs)) {
    return OpenSideFiles(fs);
  }
  LS_ASSIGN_OR_RETURN(Scan scan, ReadThrough());
  ends_ = std::move(scan.ends);
  end_count_ = static_cast<int64_t>(ends_.size());
  content_hash_ = scan.hashes.ContentHash();
  bin_->Expect(std::move(scan.hashes.blocks));
  return absl::OkStatus();
}

absl::Status TokenShard::OpenSideFiles(FileSystem& fs) {
  auto contents = fs.ReadFile(paths_.blocks);
  if (!contents.ok()) {
    return AsInputError(contents.status());
  }
  LS_ASSIGN_OR_RETURN(BlockHashes hashes,
                      ParseBlockHashes(*contents, paths_.blocks));
  LS_ASSIGN_OR_RETURN(documents_, CheckedFile::Open(fs, paths_.documents));
  LS_RETURN_IF_ERROR(ParseDocuments());
  content_hash_ = hashes.ContentHash();
  return HoldAgainst(std::move(hashes), paths_.blocks, *documents_, *bin_);
}

absl::Status TokenShard::ParseDocuments() {
  const auto bad = [&](const std::string& what) {
    return InputError(what, paths_.documents,
                      "delete it and " + paths_.blocks +
                          ", and make them again with `lockstep data verify`");
  };
  std::byte header[kTableAt];
  if (documents_->size() < kTableAt) {
    return bad("not a table of documents");
  }
  LS_RETURN_IF_ERROR(documents_->Read(0, sizeof(header), header));
  if (std::memcmp(header, kMagic, sizeof(kMagic)) != 0 ||
      LoadLittle<uint64_t>(&header[8]) != kVersion) {
    return bad("not a table of documents, or of another version");
  }
  const auto count = LoadLittle<uint64_t>(&header[32]);
  if (LoadLittle<uint64_t>(&header[16]) != static_cast<uint64_t>(end_token_) ||
      LoadLittle<uint64_t>(&header[24]) !=
          static_cast<uint64_t>(token_count_) ||
      count > static_cast<uint64_t>(token_count_) ||
      documents_->size() != kTableAt + 4 * count) {
    return bad("the table of documents is of another shard, or damaged");
  }
  end_count_ = static_cast<int64_t>(count);
  return absl::OkStatus();
}

absl::Status TokenShard::CheckTable() const {
  if (documents_ == nullptr) {
    return absl::OkStatus();  // found by reading, in order
  }
  std::vector<uint32_t> chunk;
  int64_t before = -1;
  for (int64_t first = 0; first < end_count_; first += kChunkEntries) {
    chunk.resize(std::min(kChunkEntries, end_count_ - first));
    LS_RETURN_IF_ERROR(
        documents_->Read(kTableAt + 4 * first, 4 * chunk.size(), chunk.data()));
    for (const int64_t at : chunk) {
      if (at <= before || at >= token_count_) {
        return InputError("documents do not ascend: token " +
                              std::to_string(at) + " of " +
                              std::to_string(token_count_) + " after token " +
                              std::to_string(before),
                          paths_.documents,
                          "delete it and " + paths_.blocks +
                              ", and make them again with `lockstep data "
                              "verify`");
      }
      before = at;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TokenShard::EndAt(int64_t i) const {
  LS_CHECK(i >= 0 && i < end_count_) << i << " of " << end_count_;
  if (documents_ == nullptr) {
    return int64_t{ends_[static_cast<size_t>(i)]};
  }
  std::byte entry[4];
  LS_RETURN_IF_ERROR(documents_->Read(kTableAt + 4 * static_cast<uint64_t>(i),
                                      sizeof(entry), entry));
  const int64_t at = LoadLittle<uint32_t>(entry);
  if (at >= token_count_) {
    return InputError("a document begins at token " + std::to_string(at) +
                          " of " + std::to_string(token_count_),
                      paths_.documents,
                      "see all damage with `lockstep data verify`");
  }
  return at;
}

absl::Status TokenShard::WriteSideFiles(FileSystem& fs) const {
  LS_ASSIGN_OR_RETURN(const Scan scan, ReadThrough());
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, paths_.documents, scan.documents));
  return WriteFileAtomically(fs, paths_.blocks, scan.hashes.Serialize());
}

}  // namespace lockstep
