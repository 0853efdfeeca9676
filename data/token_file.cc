#include "data/token_file.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "data/data_error.h"
#include "data/token_decode.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string WithoutSuffix(std::string_view prefix) {
  for (const std::string_view suffix : {".bin", ".idx"}) {
    if (prefix.ends_with(suffix)) {
      prefix.remove_suffix(suffix.size());
      break;
    }
  }
  return std::string(prefix);
}

absl::Status CheckExists(FileSystem& fs, const std::string& path) {
  if (fs.Exists(path)) {
    return absl::OkStatus();
  }
  return InputError(
      "no such token file", path,
      "name the prefix of a .bin/.idx pair, or make one with `lockstep data "
      "prepare`");
}

absl::StatusOr<std::unique_ptr<MappedFile>> MapIndex(FileSystem& fs,
                                                     const std::string& path) {
  auto mapped = fs.Map(path);
  if (!mapped.ok()) {
    return AsInputError(mapped.status());
  }
  return mapped;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(
    FileSystem& fs, std::string_view prefix, int64_t vocab_size) {
  LS_CHECK(vocab_size > 0 && vocab_size <= kAnyVocabulary) << vocab_size;
  std::unique_ptr<TokenFile> file(new TokenFile());
  file->prefix_ = WithoutSuffix(prefix);
  file->vocab_size_ = vocab_size;
  const std::string bin = file->prefix_ + ".bin";
  const std::string idx = file->prefix_ + ".idx";
  LS_RETURN_IF_ERROR(CheckExists(fs, idx));
  LS_RETURN_IF_ERROR(CheckExists(fs, bin));
  LS_ASSIGN_OR_RETURN(file->idx_, MapIndex(fs, idx));
  LS_ASSIGN_OR_RETURN(file->bin_, CheckedFile::Open(fs, bin));
  LS_RETURN_IF_ERROR(file->ParseHeader());
  LS_RETURN_IF_ERROR(file->CheckEnds());
  if (file->sequence_count_ + file->document_count_ <= kFullCheckEntries) {
    LS_RETURN_IF_ERROR(file->CheckTables());
  }
  LS_RETURN_IF_ERROR(file->FindContentHash(fs));
  return file;
}

absl::Status TokenFile::BadIndex(const std::string& what) const {
  return InputError(what, prefix_ + ".idx",
                    "copy the .bin/.idx pair again from where it was made, or "
                    "prepare it anew with `lockstep data prepare`");
}

absl::Status TokenFile::ParseHeader() {
  const std::span<const std::byte> bytes = idx_->bytes();
  const uint64_t size = bytes.size();
  if (size < kIndexHeaderBytes) {
    return BadIndex("truncated index: " + std::to_string(size) +
                    " bytes, and its header alone takes " +
                    std::to_string(kIndexHeaderBytes));
  }
  if (std::memcmp(bytes.data(), kIndexMagic, sizeof(kIndexMagic)) != 0) {
    return BadIndex("not an index of tokens: it does not begin with MMIDIDX");
  }
  const uint64_t version = LoadLittle<uint64_t>(&bytes[9]);
  if (version != kIndexVersion) {
    return BadIndex("index of version " + std::to_string(version) +
                    "; known is 1");
  }
  type_ = static_cast<TokenType>(bytes[17]);
  width_ = WidthOf(type_);
  if (width_ == 0 || type_ == TokenType::kF32 || type_ == TokenType::kF64) {
    return BadIndex("element type " + std::to_string(int{uint8_t(type_)}) +
                    " (" + NameOf(type_) + ") cannot hold token ids");
  }
  const uint64_t sequences = LoadLittle<uint64_t>(&bytes[18]);
  const uint64_t boundaries = LoadLittle<uint64_t>(&bytes[26]);
  const uint64_t tables = size - kIndexHeaderBytes;
  // Bounded one by one first, so that the sum below cannot wrap.
  if (sequences > tables / 12 || boundaries > tables / 8 ||
      12 * sequences + 8 * boundaries > tables) {
    return BadIndex("truncated index: " + std::to_string(size) +
                    " bytes are too few for the " + std::to_string(sequences) +
                    " sequences and " + std::to_string(boundaries) +
                    " document boundaries that its header counts");
  }
  if (12 * sequences + 8 * boundaries != tables) {
    return BadIndex(
        "the index has " +
        std::to_string(tables - 12 * sequences - 8 * boundaries) +
        " bytes more than its header counts (multimodal indices are not "
        "supported)");
  }
  if (sequences == 0 || boundaries < 2) {
    return BadIndex("the index holds no documents");
  }
  sequence_count_ = static_cast<int64_t>(sequences);
  document_count_ = static_cast<int64_t>(boundaries) - 1;
  return absl::OkStatus();
}

absl::Status TokenFile::CheckEnds() const {
  const int64_t bin = static_cast<int64_t>(bin_bytes());
  const int64_t offset = OffsetOf(sequence_count_ - 1);
  const int64_t length = LengthOf(sequence_count_ - 1);
  const bool sane = offset >= 0 && length >= 0 &&
                    offset <= std::numeric_limits<int64_t>::max() / 2;
  if (!sane || OffsetOf(0) != 0) {
    return BadIndex("the table of offsets contradicts itself");
  }
  if (offset + length * width_ != bin) {
    return InputError(
        "the token file has " + std::to_string(bin) +
            " bytes, and its index (" + NameOf(type_) + ", " +
            std::to_string(width_) + " bytes a token) counts " +
            std::to_string(offset + length * width_) +
            ": it is truncated, of another width, or of another pair",
        prefix_ + ".bin",
        "copy the .bin/.idx pair again from where it was made, or prepare it "
        "anew with `lockstep data prepare`");
  }
  if (bin == 0) {
    return BadIndex("the token file is empty");
  }
  if (FirstSequence(0) != 0 ||
      FirstSequence(document_count_) != sequence_count_) {
    return BadIndex("the table of documents does not span all sequences");
  }
  return absl::OkStatus();
}

int64_t TokenFile::LengthOf(int64_t sequence) const {
  return LoadLittle<int32_t>(&idx_->bytes()[kIndexHeaderBytes + 4 * sequence]);
}

int64_t TokenFile::OffsetOf(int64_t sequence) const {
  return LoadLittle<int64_t>(
      &idx_->bytes()[kIndexHeaderBytes + 4 * sequence_count_ + 8 * sequence]);
}

int64_t TokenFile::FirstSequence(int64_t document) const {
  return LoadLittle<int64_t>(
      &idx_->bytes()[kIndexHeaderBytes + 12 * sequence_count_ + 8 * document]);
}

absl::StatusOr<int64_t> TokenFile::DocumentStart(int64_t document) const {
  LS_CHECK(document >= 0 && document <= document_count_) << document;
  LS_RETURN_IF_ERROR(AsInputError(idx_->CheckUnchanged()));
  const int64_t sequence = FirstSequence(document);
  if (sequence < 0 || sequence > sequence_count_) {
    return BadIndex("document " + std::to_string(document) +
                    " begins at sequence " + std::to_string(sequence) + " of " +
                    std::to_string(sequence_count_));
  }
  if (sequence == sequence_count_) {
    return token_count();
  }
  const int64_t offset = OffsetOf(sequence);
  if (offset < 0 || offset > static_cast<int64_t>(bin_bytes()) ||
      offset % width_ != 0) {
    return BadIndex("sequence " + std::to_string(sequence) +
                    " begins at byte " + std::to_string(offset) +
                    ", outside the token file or inside a token");
  }
  return offset / width_;
}

absl::StatusOr<int64_t> TokenFile::DocumentOf(int64_t token) const {
  LS_CHECK(token >= 0 && token < token_count()) << token;
  // The last document that begins at or before `token`.
  int64_t low = 0;
  int64_t high = document_count_;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    LS_ASSIGN_OR_RETURN(const int64_t start, DocumentStart(middle));
    (start <= token ? low : high) = middle;
  }
  return low;
}

absl::Status TokenFile::CheckTables() const {
  int64_t offset = 0;
  for (int64_t s = 0; s < sequence_count_; ++s) {
    if (OffsetOf(s) != offset || LengthOf(s) < 0) {
      return BadIndex("sequence " + std::to_string(s) + " has length " +
                      std::to_string(LengthOf(s)) + " and begins at byte " +
                      std::to_string(OffsetOf(s)) + "; the lengths before it " +
                      "end at byte " + std::to_string(offset));
    }
    offset += LengthOf(s) * width_;
  }
  int64_t previous = 0;
  for (int64_t d = 0; d <= document_count_; ++d) {
    const int64_t first = FirstSequence(d);
    if (first < previous || first > sequence_count_) {
      return BadIndex("document " + std::to_string(d) + " begins at sequence " +
                      std::to_string(first) +
                      ", before its predecessor or beyond the last");
    }
    previous = first;
  }
  return absl::OkStatus();
}

absl::Status TokenFile::Read(int64_t first_token,
                             std::span<int32_t> out) const {
  const int64_t count = static_cast<int64_t>(out.size());
  LS_CHECK(first_token >= 0 && count <= token_count() &&
           first_token <= token_count() - count)
      << first_token << " + " << count << " of " << token_count();
  if (count == 0) {
    return absl::OkStatus();
  }
  std::vector<std::byte> stored(out.size() * static_cast<size_t>(width_));
  LS_RETURN_IF_ERROR(bin_->Read(static_cast<uint64_t>(first_token * width_),
                                stored.size(), stored.data()));
  const int64_t bad = DecodeTokens(type_, stored.data(), vocab_size_, out);
  return bad < 0 ? absl::OkStatus()
                 : BadId(first_token + bad,
                         DecodeToken(type_, &stored[bad * width_]));
}

absl::Status TokenFile::BadId(int64_t token, int64_t id) const {
  LS_ASSIGN_OR_RETURN(const int64_t document, DocumentOf(token));
  LS_ASSIGN_OR_RETURN(const int64_t start, DocumentStart(document));
  return InputError(
      "token id " + std::to_string(id) + " is outside the vocabulary of " +
          std::to_string(vocab_size_),
      prefix_ + ".bin, document " + std::to_string(document) + ", position " +
          std::to_string(token - start) + " (token " + std::to_string(token) +
          " of the file), id " + std::to_string(id) + ", vocab " +
          std::to_string(vocab_size_),
      "set model.vocab above the largest id, or prepare the data with the "
      "tokenizer of this model");
}

}  // namespace lockstep
