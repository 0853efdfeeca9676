#include "data/token_file.h"

#include <utility>
#include <vector>

#include "data/data_error.h"
#include "data/token_decode.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status CheckExists(FileSystem& fs, const std::string& path) {
  if (fs.Exists(path)) {
    return absl::OkStatus();
  }
  return InputError(
      "no such token file", path,
      "name the prefix of a .bin/.idx pair, or make one with `lockstep data "
      "prepare`");
}

}  // namespace

std::string TokenFilePrefix(std::string_view path) {
  for (const std::string_view suffix : {".bin", ".idx"}) {
    if (path.ends_with(suffix)) {
      path.remove_suffix(suffix.size());
      break;
    }
  }
  return std::string(path);
}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(
    FileSystem& fs, std::string_view prefix, int64_t vocab_size) {
  LS_CHECK(vocab_size > 0 && vocab_size <= kAnyVocabulary) << vocab_size;
  std::unique_ptr<TokenFile> file(new TokenFile());
  file->prefix_ = TokenFilePrefix(prefix);
  file->vocab_size_ = vocab_size;
  const std::string bin = file->prefix_ + ".bin";
  const std::string idx = file->prefix_ + ".idx";
  LS_RETURN_IF_ERROR(CheckExists(fs, idx));
  LS_RETURN_IF_ERROR(CheckExists(fs, bin));
  LS_ASSIGN_OR_RETURN(file->idx_, TokenIndex::Open(fs, idx));
  LS_ASSIGN_OR_RETURN(file->bin_, CheckedFile::Open(fs, bin));
  LS_RETURN_IF_ERROR(file->idx_->CheckEnds(file->bin_bytes(), bin));
  if (file->sequence_count() + file->document_count() <= kFullCheckEntries) {
    LS_RETURN_IF_ERROR(file->CheckTables());
  }
  LS_RETURN_IF_ERROR(file->FindContentHash(fs));
  return file;
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
  const int64_t width = idx_->width();
  std::vector<std::byte> stored(out.size() * static_cast<size_t>(width));
  LS_RETURN_IF_ERROR(bin_->Read(static_cast<uint64_t>(first_token * width),
                                stored.size(), stored.data()));
  const int64_t bad = DecodeTokens(type(), stored.data(), vocab_size_, out);
  return bad < 0
             ? absl::OkStatus()
             : BadId(bin_->path(), first_token + bad,
                     DecodeToken(type(), &stored[bad * width]), vocab_size_);
}

std::vector<DataFileIdentity> TokenFile::Identities() const {
  return {{prefix_ + ".bin", bin_bytes(), content_hash_},
          {prefix_ + ".idx", idx_bytes(), content_hash_}};
}

}  // namespace lockstep
