#include "data/token_index.h"

#include <cstring>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

template <typename T>
absl::StatusOr<int64_t> Entry(const CheckedFile& file, int64_t at_byte) {
  std::byte bytes[sizeof(T)];
  LS_RETURN_IF_ERROR(
      file.Read(static_cast<uint64_t>(at_byte), sizeof(T), bytes));
  return LoadLittle<T>(bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenIndex>> TokenIndex::Open(
    FileSystem& fs, const std::string& path) {
  std::unique_ptr<TokenIndex> index(new TokenIndex());
  LS_ASSIGN_OR_RETURN(index->file_, CheckedFile::Open(fs, path));
  LS_RETURN_IF_ERROR(index->ParseHeader());
  return index;
}

absl::Status TokenIndex::Bad(const std::string& what) const {
  return InputError(what, file_->path(),
                    "copy the .bin/.idx pair again from where it was made, or "
                    "prepare it anew with `lockstep data prepare`");
}

absl::Status TokenIndex::ParseHeader() {
  const uint64_t size = file_->size();
  if (size < kIndexHeaderBytes) {
    return Bad("truncated index: " + std::to_string(size) +
               " bytes, and its header alone takes " +
               std::to_string(kIndexHeaderBytes));
  }
  std::byte header[kIndexHeaderBytes];
  LS_RETURN_IF_ERROR(file_->Read(0, sizeof(header), header));
  if (std::memcmp(header, kIndexMagic, sizeof(kIndexMagic)) != 0) {
    return Bad("not an index of tokens: it does not begin with MMIDIDX");
  }
  const uint64_t version = LoadLittle<uint64_t>(&header[9]);
  if (version != kIndexVersion) {
    return Bad("index of version " + std::to_string(version) + "; known is 1");
  }
  type_ = static_cast<TokenType>(header[17]);
  if (width() == 0 || type_ == TokenType::kF32 || type_ == TokenType::kF64) {
    return Bad("element type " + std::to_string(int{uint8_t(type_)}) + " (" +
               NameOf(type_) + ") cannot hold token ids");
  }
  const uint64_t sequences = LoadLittle<uint64_t>(&header[18]);
  const uint64_t boundaries = LoadLittle<uint64_t>(&header[26]);
  const uint64_t tables = size - kIndexHeaderBytes;
  // Bounded one by one first, so that the sum below cannot wrap.
  if (sequences > tables / 12 || boundaries > tables / 8 ||
      12 * sequences + 8 * boundaries > tables) {
    return Bad("truncated index: " + std::to_string(size) +
               " bytes are too few for the " + std::to_string(sequences) +
               " sequences and " + std::to_string(boundaries) +
               " document boundaries that its header counts");
  }
  if (12 * sequences + 8 * boundaries != tables) {
    return Bad("the index has " +
               std::to_string(tables - 12 * sequences - 8 * boundaries) +
               " bytes more than its header counts (multimodal indices are "
               "not supported)");
  }
  if (sequences == 0 || boundaries < 2) {
    return Bad("the index holds no documents");
  }
  sequence_count_ = static_cast<int64_t>(sequences);
  document_count_ = static_cast<int64_t>(boundaries) - 1;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TokenIndex::LengthOf(int64_t sequence) const {
  return Entry<int32_t>(*file_, kIndexHeaderBytes + 4 * sequence);
}

absl::StatusOr<int64_t> TokenIndex::OffsetOf(int64_t sequence) const {
  return Entry<int64_t>(*file_, OffsetsAt() + 8 * sequence);
}

absl::StatusOr<int64_t> TokenIndex::FirstSequence(int64_t document) const {
  return Entry<int64_t>(*file_, DocumentsAt() + 8 * document);
}

absl::StatusOr<int64_t> TokenIndex::DocumentStart(int64_t document,
                                                  uint64_t bin_bytes) const {
  LS_CHECK(document >= 0 && document <= document_count_) << document;
  LS_ASSIGN_OR_RETURN(const int64_t sequence, FirstSequence(document));
  if (sequence < 0 || sequence > sequence_count_) {
    return Bad("document " + std::to_string(document) + " begins at sequence " +
               std::to_string(sequence) + " of " +
               std::to_string(sequence_count_));
  }
  if (sequence == sequence_count_) {
    return static_cast<int64_t>(bin_bytes) / width();
  }
  LS_ASSIGN_OR_RETURN(const int64_t offset, OffsetOf(sequence));
  if (offset < 0 || offset > static_cast<int64_t>(bin_bytes) ||
      offset % width() != 0) {
    return Bad("sequence " + std::to_string(sequence) + " begins at byte " +
               std::to_string(offset) +
               ", outside the token file or inside a token");
  }
  return offset / width();
}

}  // namespace lockstep
