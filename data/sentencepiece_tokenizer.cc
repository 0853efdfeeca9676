#include "data/sentencepiece_tokenizer.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "data/piece_text.h"
#include "data/sentencepiece_facts.h"
#include "data/sentencepiece_library.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// A longer line is encoded in slices of so many bytes: the library's memory
// grows with what it is given at once.
constexpr size_t kSliceBytes = 64 * 1024;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A piece as text: U+2581 as the space it stands for; "<0x41>" as its byte.
std::string TextOf(const PieceModel& model, int32_t id) {
  const std::string piece = model.Text(id);
  switch (model.Kind(id)) {
    case PieceKind::kControl:
      return "";
    case PieceKind::kUnknown:
      return std::string(kReplacement);
    case PieceKind::kByte:
      return std::string(
          1, static_cast<char>(std::strtol(&piece[3], nullptr, 16)));
    case PieceKind::kText:
      break;
  }
  std::string text;
  for (size_t at = 0; at < piece.size();) {
    if (piece.compare(at, kPieceSpace.size(), kPieceSpace) == 0) {
      text.push_back(' ');
      at += kPieceSpace.size();
    } else {
      text.push_back(piece[at++]);
    }
  }
  return text;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::unique_ptr<PieceModel> model,
                         const SentencePieceFacts& facts, std::string identity)
      : model_(std::move(model)),
        identity_(std::move(identity)),
        dummy_prefix_(facts.add_dummy_prefix) {
    size_t bytes = 0;
    bool lines = true;
    for (int32_t id = 0; id < model_->piece_count(); ++id) {
      text_.push_back(TextOf(*model_, id));
      if (model_->Kind(id) == PieceKind::kByte) {
        byte_ids_[static_cast<uint8_t>(text_.back()[0])] = id;
        ++bytes;
      }
      lines = lines && LineEnd(text_.back()) == text_.back().size();
    }
    exact_ = facts.identity && bytes == byte_ids_.size();
    by_line_ = exact_ && lines;
  }

  const char* name() const override { return "sentencepiece"; }
  int64_t vocab_size() const override {
    return model_->piece_count() + (model_->end_id() < 0 ? 1 : 0);
  }
  int32_t end_of_document() const override {
    return model_->end_id() < 0 ? static_cast<int32_t>(model_->piece_count())
                                : model_->end_id();
  }
  int32_t unknown() const override { return model_->unknown_id(); }
  std::string identity() const override { return identity_; }

  void Encode(std::string_view text, std::vector<int32_t>& out) const override {
    while (!text.empty()) {
      const size_t end = by_line_ ? LineEnd(text) : text.size();
      EncodeLine(text.substr(0, end), out);
      text.remove_prefix(end);
    }
  }

  size_t EncodablePrefix(std::string_view text) const override {
    if (!by_line_) return 0;
    // The last newline that another byte follows: what comes later cannot
    // lengthen its line.
    const size_t last = text.find_last_not_of('\n');
    const size_t newline = last == text.npos ? last : text.rfind('\n', last);
    return newline == text.npos ? 0 : newline + 1;
  }

  std::string Decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) {
      text += i == 0 ? TextOfId(ids[i]) : DecodeAfter(ids[i - 1], ids[i]);
    }
    return text;
  }

  // A dummy prefix is a space that the text does not have.
  std::string DecodeAfter(int32_t previous, int32_t id) const override {
    std::string text = TextOfId(id);
    const bool first = previous == end_of_document();
    if (first && dummy_prefix_ && text.starts_with(' ')) text.erase(0, 1);
    return text;
  }

 private:
  std::string TextOfId(int32_t id) const {
    if (id == end_of_document()) return "";
    if (id < 0 || id >= model_->piece_count()) return std::string(kReplacement);
    return text_[static_cast<size_t>(id)];
  }

  void EncodeLine(std::string_view text, std::vector<int32_t>& out) const {
    while (!text.empty()) {
      const size_t plain =
          exact_
              ? WholeCharacters(text.substr(0, PlainPrefix(text)), kSliceBytes)
              : text.size();
      if (plain > 0) model_->Encode(text.substr(0, plain), out);
      text.remove_prefix(plain);
      if (text.empty() || plain > 0) continue;
      // One byte at a time: U+2581's other bytes are no UTF-8 by themselves.
      out.push_back(byte_ids_[static_cast<uint8_t>(text[0])]);
      text.remove_prefix(1);
    }
  }

  const std::unique_ptr<PieceModel> model_;
  const std::string identity_;
  const bool dummy_prefix_;
  bool exact_ = false;
  bool by_line_ = false;
  std::array<int32_t, 256> byte_ids_ = {};
  std::vector<std::string> text_;  // of each piece
};

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const std::string& bytes, std::string_view where) {
  LS_ASSIGN_OR_RETURN(const SentencePieceFacts facts,
                      ReadSentencePieceFacts(bytes, where));
  std::string error;
  std::unique_ptr<PieceModel> model = PieceModel::Load(bytes, error);
  if (model == nullptr || model->piece_count() != facts.pieces) {
    return InputError("SentencePiece refuses the model: " +
                          (error.empty() ? "its fields are damaged" : error),
                      where,
                      "name a model that `lockstep data train-tokenizer` or "
                      "SentencePiece's own trainer wrote");
  }
  return std::make_unique<SentencePieceTokenizer>(std::move(model), facts,
                                                  Sha256Hex(bytes));
}

}  // namespace lockstep
