#include "data/tokenizer.h"

#include "data/data_error.h"
#include "data/sentencepiece_tokenizer.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int32_t kBytes = 256;

class ByteTokenizer : public Tokenizer {
 public:
  int64_t vocab_size() const override { return kBytes + 1; }
  int32_t end_of_document() const override { return kBytes; }

  void Encode(std::string_view text, std::vector<int32_t>& out) const override {
    const size_t old_size = out.size();
    out.resize(old_size + text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      out[old_size + i] = static_cast<uint8_t>(text[i]);
    }
  }

  std::string Decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (id >= 0 && id < kBytes) {
        text.push_back(static_cast<char>(id));
      } else if (id != kBytes) {
        text.append("\xEF\xBF\xBD");
      }
    }
    return text;
  }

  size_t EncodablePrefix(std::string_view text) const override {
    return text.size();
  }
  bool ids_are_bytes() const override { return true; }
  const char* name() const override { return "byte"; }

  // A new number where the same text would become other ids.
  std::string identity() const override {
    return Sha256Hex("lockstep tokenizer byte 1");
  }
};

}  // namespace

std::string Tokenizer::DecodeAfter(int32_t /*previous*/, int32_t id) const {
  return Decode(std::span(&id, 1));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(
    FileSystem& fs, std::string_view name) {
  if (name == "byte") {
    return std::make_unique<ByteTokenizer>();
  }
  const std::string path(name);
  if (!path.ends_with(".model")) {
    return InputError("unknown tokenizer '" + path + "'", "data.tokenizer",
                      "use \"byte\", or the path of a SentencePiece model, "
                      "which ends in .model");
  }
  if (!fs.Exists(path)) {
    return InputError("no such tokenizer model", path,
                      "check data.tokenizer (or --tokenizer): a path in a "
                      "recipe counts from the recipe's folder, one in the "
                      "command from where it runs; `lockstep data "
                      "train-tokenizer` makes a model");
  }
  auto bytes = fs.ReadFile(path);
  if (!bytes.ok()) {
    return AsInputError(bytes.status());
  }
  return MakeSentencePieceTokenizer(*bytes, path);
}

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(
    std::string_view name) {
  return MakeTokenizer(*PosixFileSystem(), name);
}

}  // namespace lockstep
