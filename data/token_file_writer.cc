#include "data/token_file_writer.h"

#include <algorithm>
#include <utility>

#include "data/token_decode.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr const char* kSuffixes[] = {".bin", ".idx", ".blocks", ".lengths",
                                     ".documents"};

}  // namespace

absl::StatusOr<std::unique_ptr<TokenFileWriter>> TokenFileWriter::Create(
    FileSystem& fs, const std::string& prefix, int64_t vocab_size,
    int64_t max_sequence_tokens) {
  LS_CHECK(vocab_size > 0) << vocab_size;
  LS_CHECK(max_sequence_tokens > 0) << max_sequence_tokens;
  std::unique_ptr<TokenFileWriter> writer(
      new TokenFileWriter(fs, prefix, vocab_size, max_sequence_tokens));
  LS_ASSIGN_OR_RETURN(writer->bin_, fs.Create(writer->Temporary(".bin")));
  LS_ASSIGN_OR_RETURN(writer->lengths_,
                      fs.Create(writer->Temporary(".lengths")));
  LS_ASSIGN_OR_RETURN(writer->documents_,
                      fs.Create(writer->Temporary(".documents")));
  return writer;
}

TokenFileWriter::TokenFileWriter(FileSystem& fs, const std::string& prefix,
                                 int64_t vocab_size,
                                 int64_t max_sequence_tokens)
    : fs_(fs),
      prefix_(prefix),
      vocab_size_(vocab_size),
      max_sequence_tokens_(max_sequence_tokens),
      type_(TypeForVocabulary(vocab_size)) {
  block_ = hasher_.Take();
}

TokenFileWriter::~TokenFileWriter() {
  if (finished_) {
    return;
  }
  bin_.reset();
  lengths_.reset();
  documents_.reset();
  for (const char* suffix : kSuffixes) {
    // Best effort: a name that is left is overwritten by the next attempt.
    if (fs_.Exists(Temporary(suffix))) {
      fs_.Remove(Temporary(suffix)).IgnoreError();
    }
  }
}

std::string TokenFileWriter::Temporary(const char* suffix) const {
  return prefix_ + suffix + ".tmp";
}

absl::StatusOr<int64_t> TokenFileWriter::Room(size_t wanted) {
  if (sequence_tokens_ == max_sequence_tokens_) {
    LS_RETURN_IF_ERROR(EndSequence());
  }
  const auto room =
      static_cast<int64_t>(kHashBlockBytes - block_used_) / WidthOf(type_);
  return std::min({static_cast<int64_t>(wanted), room,
                   max_sequence_tokens_ - sequence_tokens_});
}

absl::Status TokenFileWriter::Wrote(int64_t tokens) {
  block_used_ += static_cast<size_t>(tokens * WidthOf(type_));
  sequence_tokens_ += tokens;
  document_tokens_ += tokens;
  return block_used_ == kHashBlockBytes ? FlushBlock() : absl::OkStatus();
}

absl::Status TokenFileWriter::Append(std::span<const int32_t> tokens) {
  while (!tokens.empty()) {
    LS_ASSIGN_OR_RETURN(const int64_t count, Room(tokens.size()));
    EncodeTokens(type_, tokens.first(count), vocab_size_,
                 &(*block_)[block_used_]);
    tokens = tokens.subspan(count);
    LS_RETURN_IF_ERROR(Wrote(count));
  }
  return absl::OkStatus();
}

absl::Status TokenFileWriter::AppendBytes(std::string_view text) {
  LS_CHECK(type_ == TokenType::kU16 && vocab_size_ >= 256) << vocab_size_;
  while (!text.empty()) {
    LS_ASSIGN_OR_RETURN(const int64_t count, Room(text.size()));
    WidenBytes(text.substr(0, count), &(*block_)[block_used_]);
    text.remove_prefix(count);
    LS_RETURN_IF_ERROR(Wrote(count));
  }
  return absl::OkStatus();
}

absl::Status TokenFileWriter::FlushBlock() {
  block_->resize(block_used_);
  hashes_.bin_bytes += block_used_;
  LS_RETURN_IF_ERROR(bin_->Append(*block_));
  hasher_.Add(std::move(block_));
  block_ = hasher_.Take();
  block_used_ = 0;
  return absl::OkStatus();
}

absl::Status TokenFileWriter::EndSequence() {
  std::string length;
  AppendLittle<int32_t>(static_cast<int32_t>(sequence_tokens_), length);
  sequence_tokens_ = 0;
  ++summary_.sequences;
  return lengths_->Append(length);
}

absl::Status TokenFileWriter::EndDocument() {
  LS_CHECK_GT(document_tokens_, 0);
  LS_RETURN_IF_ERROR(EndSequence());
  summary_.tokens += document_tokens_;
  document_tokens_ = 0;
  ++summary_.documents;
  std::string end;
  AppendLittle<int64_t>(summary_.sequences, end);
  return documents_->Append(end);
}

absl::StatusOr<TokenFileSummary> TokenFileWriter::Finish() {
  LS_CHECK(!finished_ && document_tokens_ == 0 && summary_.documents > 0);
  if (block_used_ > 0) {
    LS_RETURN_IF_ERROR(FlushBlock());
  }
  hashes_.blocks = hasher_.Finish();
  LS_RETURN_IF_ERROR(bin_->Sync());
  LS_RETURN_IF_ERROR(bin_->Close());
  LS_RETURN_IF_ERROR(lengths_->Close());
  LS_RETURN_IF_ERROR(documents_->Close());
  LS_RETURN_IF_ERROR(WriteIndex());
  LS_RETURN_IF_ERROR(Commit());
  finished_ = true;
  summary_.content_hash = hashes_.ContentHash();
  return summary_;
}

}  // namespace lockstep
