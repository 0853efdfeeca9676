// TokenFileWriter's end: the index out of the spooled tables, and the names.

#include <algorithm>
#include <functional>
#include <utility>

#include "data/token_file_writer.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of a spooled table, per read.
constexpr int64_t kChunkEntries = int64_t{1} << 16;

// The index, hashed as it is written.
class IndexOutput {
 public:
  explicit IndexOutput(std::unique_ptr<WritableFile> file)
      : file_(std::move(file)) {}

  absl::Status Append(const std::string& bytes) {
    hash_.Update(bytes.data(), bytes.size());
    bytes_ += bytes.size();
    return file_->Append(bytes);
  }

  absl::Status Close() {
    LS_RETURN_IF_ERROR(file_->Sync());
    return file_->Close();
  }

  Digest digest() const { return hash_.Digest(); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<WritableFile> file_;
  Sha256 hash_;
  uint64_t bytes_ = 0;
};

// Calls `convert` on each entry of the spooled file in order and appends what
// it makes of it to the index.
template <typename T>
absl::Status CopyTable(const RandomAccessFile& spool,
                       const std::function<void(T, std::string&)>& convert,
                       IndexOutput& index) {
  const int64_t count = static_cast<int64_t>(spool.Size() / sizeof(T));
  std::string in;
  std::string out;
  for (int64_t first = 0; first < count; first += kChunkEntries) {
    const int64_t entries = std::min(kChunkEntries, count - first);
    in.resize(static_cast<size_t>(entries) * sizeof(T));
    LS_RETURN_IF_ERROR(spool.ReadAt(first * sizeof(T), in.size(), in.data()));
    out.clear();
    const std::byte* from = reinterpret_cast<const std::byte*>(in.data());
    for (int64_t i = 0; i < entries; ++i) {
      convert(LoadLittle<T>(from + i * sizeof(T)), out);
    }
    LS_RETURN_IF_ERROR(index.Append(out));
  }
  return absl::OkStatus();
}

absl::Status SyncAndClose(WritableFile& file) {
  LS_RETURN_IF_ERROR(file.Sync());
  return file.Close();
}

}  // namespace

absl::Status TokenFileWriter::WriteIndex() {
  LS_ASSIGN_OR_RETURN(auto file, fs_.Create(Temporary(".idx")));
  LS_ASSIGN_OR_RETURN(const auto lengths, fs_.OpenRead(Temporary(".lengths")));
  LS_ASSIGN_OR_RETURN(const auto documents,
                      fs_.OpenRead(Temporary(".documents")));
  IndexOutput index(std::move(file));
  std::string header(kIndexMagic, sizeof(kIndexMagic));
  AppendLittle<uint64_t>(kIndexVersion, header);
  AppendLittle<uint8_t>(static_cast<uint8_t>(type_), header);
  AppendLittle<uint64_t>(static_cast<uint64_t>(summary_.sequences), header);
  AppendLittle<uint64_t>(static_cast<uint64_t>(summary_.documents) + 1, header);
  LS_RETURN_IF_ERROR(index.Append(header));

  LS_RETURN_IF_ERROR(CopyTable<int32_t>(
      *lengths,
      [](int32_t length, std::string& out) { AppendLittle(length, out); },
      index));
  int64_t offset = 0;
  LS_RETURN_IF_ERROR(CopyTable<int32_t>(
      *lengths,
      [&](int32_t length, std::string& out) {
        AppendLittle(offset, out);
        offset += length * WidthOf(type_);
      },
      index));
  LS_CHECK_EQ(static_cast<uint64_t>(offset), hashes_.bin_bytes);
  std::string first;
  AppendLittle<int64_t>(0, first);
  LS_RETURN_IF_ERROR(index.Append(first));
  LS_RETURN_IF_ERROR(CopyTable<int64_t>(
      *documents, [](int64_t end, std::string& out) { AppendLittle(end, out); },
      index));
  LS_RETURN_IF_ERROR(index.Close());
  hashes_.idx = index.digest();
  hashes_.idx_bytes = index.bytes();
  return absl::OkStatus();
}

absl::Status TokenFileWriter::Commit() {
  LS_ASSIGN_OR_RETURN(auto blocks, fs_.Create(Temporary(".blocks")));
  LS_RETURN_IF_ERROR(blocks->Append(hashes_.Serialize()));
  LS_RETURN_IF_ERROR(SyncAndClose(*blocks));
  const std::string folder = DirName(prefix_);
  // An old index must not stand beside a new .bin, not even after a power cut.
  if (fs_.Exists(prefix_ + ".idx")) {
    LS_RETURN_IF_ERROR(fs_.Remove(prefix_ + ".idx"));
    LS_RETURN_IF_ERROR(fs_.SyncDir(folder));
  }
  LS_RETURN_IF_ERROR(fs_.Rename(Temporary(".bin"), prefix_ + ".bin"));
  LS_RETURN_IF_ERROR(fs_.Rename(Temporary(".blocks"), prefix_ + ".blocks"));
  LS_RETURN_IF_ERROR(fs_.SyncDir(folder));
  LS_RETURN_IF_ERROR(fs_.Rename(Temporary(".idx"), prefix_ + ".idx"));
  LS_RETURN_IF_ERROR(fs_.Remove(Temporary(".lengths")));
  LS_RETURN_IF_ERROR(fs_.Remove(Temporary(".documents")));
  return fs_.SyncDir(folder);
}

}  // namespace lockstep
