#include "data/sentencepiece_library.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <unordered_map>

// Exported by the library, and in none of the headers that it installs.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace lockstep {
namespace {

namespace spm = sentencepiece;

class LoadedModel : public PieceModel {
 public:
  spm::util::Status Load(const std::string& bytes) {
    return processor_.LoadFromSerializedProto(bytes);
  }

  int64_t piece_count() const override { return processor_.GetPieceSize(); }
  int32_t end_id() const override { return processor_.eos_id(); }
  int32_t unknown_id() const override { return processor_.unk_id(); }

  PieceKind Kind(int32_t id) const override {
    if (processor_.IsByte(id)) return PieceKind::kByte;
    if (processor_.IsUnknown(id)) return PieceKind::kUnknown;
    return processor_.IsControl(id) || processor_.IsUnused(id)
               ? PieceKind::kControl
               : PieceKind::kText;
  }

  std::string Text(int32_t id) const override {
    return processor_.IdToPiece(id);
  }

  void Encode(std::string_view text, std::vector<int32_t>& out) const override {
    const std::vector<int> ids =
        processor_.EncodeAsIds(absl::string_view(text.data(), text.size()));
    out.insert(out.end(), ids.begin(), ids.end());
  }

 private:
  spm::SentencePieceProcessor processor_;
};

class Sentences : public spm::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& all) : all_(all) {}
  bool done() const override { return at_ == all_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return all_[at_]; }
  spm::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& all_;
  size_t at_ = 0;
};

// What a status says, without its code and the library's source line:
// "Internal: ./src/x.cc(1) [condition] Vocabulary size too high."
std::string Sentence(const spm::util::Status& status) {
  std::string text = status.error_message();
  if (const size_t end = text.rfind("] "); end != text.npos) {
    text.erase(0, end + 2);
  }
  return text == " " ? "" : text;
}

}  // namespace

std::unique_ptr<PieceModel> PieceModel::Load(const std::string& bytes,
                                             std::string& error) {
  spm::logging::SetMinLogLevel(kLibraryLogLevel);
  auto model = std::make_unique<LoadedModel>();
  const spm::util::Status status = model->Load(bytes);
  if (status.ok()) return model;
  error = Sentence(status);
  return nullptr;
}

std::string TrainPieces(const std::map<std::string, std::string>& options,
                        const std::vector<std::string>& sentences,
                        std::string& error) {
  Sentences iterator(sentences);
  std::string model;
  const spm::util::Status status = spm::SentencePieceTrainer::Train(
      std::unordered_map<std::string, std::string>(options.begin(),
                                                   options.end()),
      &iterator, &model);
  if (status.ok()) return model;
  error = Sentence(status);
  return "";
}

}  // namespace lockstep
