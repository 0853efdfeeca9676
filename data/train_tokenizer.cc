#include "data/train_tokenizer.h"

#include <map>
#include <string_view>
#include <utility>

#include "data/output_folder.h"
#include "data/piece_text.h"
#include "data/sentencepiece_library.h"
#include "data/text_source.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The library looks for pieces inside a sentence only; longer lines are cut.
constexpr size_t kSentenceBytes = 4096;

// Every 2^k-th of the lines it is given; k grows so that it fits.
class Sample {
 public:
  explicit Sample(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void Add(std::string_view line) {
    if (lines_++ % every_ != 0) return;
    bytes_ += line.size();
    kept_.emplace_back(line);
    while (bytes_ > most_bytes_ && kept_.size() > 1) {
      Halve();
    }
  }

  int64_t lines() const { return lines_; }
  int64_t every() const { return every_; }
  uint64_t bytes() const { return bytes_; }
  const std::vector<std::string>& kept() const { return kept_; }

 private:
  void Halve() {
    every_ *= 2;
    bytes_ = 0;
    for (size_t i = 0; 2 * i < kept_.size(); ++i) {
      if (i > 0) kept_[i] = std::move(kept_[2 * i]);
      bytes_ += kept_[i].size();
    }
    kept_.resize((kept_.size() + 1) / 2);
  }

  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  int64_t lines_ = 0;
  int64_t every_ = 1;
  std::vector<std::string> kept_;
};

// Feeds the lines of one text to the sample, each cut where the library would
// alter it.
void AddLines(std::string_view text, Sample& sample) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, LineEnd(text));
    text.remove_prefix(line.size());
    while (!line.empty()) {
      const size_t plain =
          WholeCharacters(line.substr(0, PlainPrefix(line)), kSentenceBytes);
      if (plain > 0) sample.Add(line.substr(0, plain));
      line.remove_prefix(plain > 0 ? plain : 1);
    }
  }
}

absl::Status Collect(TextSource& source, Sample& sample, uint64_t& bytes) {
  std::string rest;  // of a line whose end is not seen
  while (true) {
    LS_ASSIGN_OR_RETURN(const TextPiece piece, source.Next());
    if (piece.end_of_source) return absl::OkStatus();
    bytes += piece.bytes.size();
    rest.append(piece.bytes);
    const size_t newline = rest.rfind('\n');
    const bool whole = piece.ends_document || rest.size() > (1 << 22);
    const size_t now = whole                  ? rest.size()
                       : newline == rest.npos ? 0
                                              : newline + 1;
    AddLines(std::string_view(rest).substr(0, now), sample);
    rest.erase(0, now);
  }
}

std::map<std::string, std::string> LibraryOptions(
    const TrainTokenizerOptions& options) {
  return {
      {"model_type", options.type},
      {"vocab_size", std::to_string(options.vocab)},
      {"unk_id", "0"},
      {"eos_id", "1"},
      {"bos_id", "-1"},
      {"pad_id", "-1"},
      {"byte_fallback", "true"},
      {"character_coverage", "0.9995"},
      {"normalization_rule_name", "identity"},
      {"add_dummy_prefix", "false"},
      {"remove_extra_whitespaces", "false"},
      {"allow_whitespace_only_pieces", "true"},
      {"split_digits", "true"},
      {"max_sentence_length", std::to_string(2 * kSentenceBytes)},
      {"num_threads", "1"},
      {"minloglevel", std::to_string(kLibraryLogLevel)},
  };
}

absl::Status CheckOptions(const TrainTokenizerOptions& options) {
  if (!options.output.ends_with(".model")) {
    return InputError("a model's name ends in .model",
                      "--output " + options.output,
                      "write --output " + options.output + ".model");
  }
  if (options.type != "bpe" && options.type != "unigram") {
    return InputError("unknown type of model '" + options.type + "'", "--type",
                      "use bpe or unigram");
  }
  // 256 bytes, the unknown id, the end of a document.
  constexpr int64_t kLeast = 258, kMost = int64_t{1} << 24;
  if (options.vocab < kLeast || options.vocab > kMost) {
    return InputError("a vocabulary has from " + std::to_string(kLeast) +
                          " to " + std::to_string(kMost) + " ids",
                      "--vocab " + std::to_string(options.vocab),
                      "choose one such as 16384");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainTokenizerReport> TrainTokenizer(
    FileSystem& fs, const TrainTokenizerOptions& options) {
  LS_RETURN_IF_ERROR(CheckOptions(options));
  LS_RETURN_IF_ERROR(CheckOutputFolder(fs, options.output, options.inputs));
  const TextOptions text = {0, options.field};
  LS_ASSIGN_OR_RETURN(TextFileList list,
                      ListTextFiles(fs, options.inputs, text));
  TrainTokenizerReport report;
  report.files = static_cast<int64_t>(list.files.size());
  Sample sample(options.sample_bytes);
  const auto source = MakeTextSource(fs, std::move(list.files), text);
  LS_RETURN_IF_ERROR(Collect(*source, sample, report.text_bytes));
  std::string error;
  const std::string model =
      TrainPieces(LibraryOptions(options), sample.kept(), error);
  if (model.empty()) {
    return InputError("SentencePiece cannot train: " +
                          (error.empty() ? "the text gives no pieces" : error),
                      "--vocab " + std::to_string(options.vocab) + ", " +
                          std::to_string(sample.bytes()) + " bytes of text",
                      "give another --vocab, or more text");
  }
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, options.output, model));
  report.lines = sample.lines();
  report.sampled_lines = static_cast<int64_t>(sample.kept().size());
  report.sampled_bytes = sample.bytes();
  report.every = sample.every();
  report.identity = Sha256Hex(model);
  return report;
}

}  // namespace lockstep
