#include "data/prepare.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/output_folder.h"
#include "data/text_source.h"
#include "data/token_file_writer.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kProgressBytes = uint64_t{1} << 20;
constexpr size_t kMaxRestBytes = size_t{1} << 28;

// Encodes the pieces of documents into the writer.
class DocumentEncoder {
 public:
  DocumentEncoder(const Tokenizer& tokenizer, TokenFileWriter& writer)
      : tokenizer_(tokenizer), writer_(writer) {}

  absl::Status Add(const TextPiece& piece) {
    ids_.clear();
    if (tokenizer_.ids_are_bytes()) {
      LS_RETURN_IF_ERROR(writer_.AppendBytes(piece.bytes));
      tokens_ += static_cast<int64_t>(piece.bytes.size());
    } else {
      LS_RETURN_IF_ERROR(Encode(piece));
    }
    if (piece.ends_document) {
      ids_.push_back(tokenizer_.end_of_document());
    }
    if (tokenizer_.unknown() >= 0) {
      unknown_ += std::count(ids_.begin(), ids_.end(), tokenizer_.unknown());
    }
    tokens_ += static_cast<int64_t>(ids_.size());
    text_bytes_ += piece.bytes.size();
    LS_RETURN_IF_ERROR(writer_.Append(ids_));
    if (!piece.ends_document) {
      return absl::OkStatus();
    }
    ++documents_;
    return writer_.EndDocument();
  }

  int64_t tokens() const { return tokens_; }
  int64_t documents() const { return documents_; }
  uint64_t text_bytes() const { return text_bytes_; }
  int64_t unknown() const { return unknown_; }

 private:
  absl::Status Encode(const TextPiece& piece) {
    const bool held = !rest_.empty();
    if (held) {
      rest_.append(piece.bytes);
    }
    const std::string_view text = held ? rest_ : piece.bytes;
    const size_t now =
        piece.ends_document ? text.size() : tokenizer_.EncodablePrefix(text);
    if (now > 0 || piece.ends_document) {
      tokenizer_.Encode(text.substr(0, now), ids_);
    }
    if (held) {
      rest_.erase(0, now);
    } else {
      rest_.assign(text.substr(now));
    }
    if (rest_.size() > kMaxRestBytes) {
      return InputError("a document has more than " +
                            std::to_string(kMaxRestBytes) +
                            " bytes that the tokenizer must see at once",
                        "document " + std::to_string(documents_),
                        "set document_bytes, so that text is cut at blank "
                        "lines, or use a model of `data train-tokenizer`, "
                        "which encodes line by line");
    }
    return absl::OkStatus();
  }

  const Tokenizer& tokenizer_;
  TokenFileWriter& writer_;
  std::string rest_;  // of the document, not yet encoded
  std::vector<int32_t> ids_;
  int64_t tokens_ = 0;
  int64_t documents_ = 0;
  uint64_t text_bytes_ = 0;
  int64_t unknown_ = 0;
};

absl::Status EncodeAll(TextSource& source, const PrepareOptions& options,
                       TokenFileWriter& writer, PrepareReport& report) {
  DocumentEncoder encoder(*options.tokenizer, writer);
  uint64_t reported = 0;
  while (true) {
    LS_ASSIGN_OR_RETURN(const TextPiece piece, source.Next());
    if (!piece.end_of_source) {
      LS_RETURN_IF_ERROR(encoder.Add(piece));
    }
    const uint64_t done = source.bytes_done();
    if (options.progress &&
        (piece.end_of_source || done - reported >= kProgressBytes)) {
      options.progress(
          {done, report.input_bytes, encoder.documents(), encoder.tokens()});
      reported = done;
    }
    if (piece.end_of_source) {
      report.text_bytes = encoder.text_bytes();
      report.unknown = encoder.unknown();
      return absl::OkStatus();
    }
  }
}

}  // namespace

absl::StatusOr<PrepareReport> PrepareTokens(FileSystem& fs,
                                            const PrepareOptions& options) {
  LS_CHECK(options.tokenizer != nullptr);
  LS_RETURN_IF_ERROR(
      CheckOutputFolder(fs, options.output_prefix, options.inputs));
  const TextOptions text = {options.document_bytes, options.field};
  LS_ASSIGN_OR_RETURN(TextFileList list,
                      ListTextFiles(fs, options.inputs, text));
  PrepareReport report;
  report.files = static_cast<int64_t>(list.files.size());
  report.input_bytes = list.bytes;
  report.hidden_files = std::move(list.hidden_files);

  LS_ASSIGN_OR_RETURN(const auto writer,
                      TokenFileWriter::Create(fs, options.output_prefix,
                                              options.tokenizer->vocab_size()));
  const auto source = MakeTextSource(fs, std::move(list.files), text);
  LS_RETURN_IF_ERROR(EncodeAll(*source, options, *writer, report));
  report.blank_lines = source->blank_lines();
  if (writer->documents() == 0) {
    return InputError("no document to prepare: nothing but " +
                          std::to_string(report.blank_lines) + " blank lines",
                      options.inputs.front(), "name files that hold text");
  }
  LS_ASSIGN_OR_RETURN(const TokenFileSummary summary, writer->Finish());
  report.documents = summary.documents;
  report.tokens = summary.tokens;
  report.type = TypeForVocabulary(options.tokenizer->vocab_size());
  report.content_hash = summary.content_hash;
  return report;
}

}  // namespace lockstep
