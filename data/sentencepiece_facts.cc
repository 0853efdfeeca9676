#include "data/sentencepiece_facts.h"

#include <optional>
#include <string>

#include "determinism/status.h"

namespace lockstep {
namespace {

// One field of a protobuf message (protobuf.dev, "Encoding").
struct Field {
  uint64_t number = 0;
  uint64_t varint = 0;     // wire type 0
  std::string_view bytes;  // wire type 2
};

// The fields of a message in order; stops where they are no message.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  std::optional<Field> Next() {
    if (rest_.empty() || broken_) return std::nullopt;
    Field field;
    const uint64_t tag = Varint();
    field.number = tag >> 3;
    switch (tag & 7) {
      case 0:
        field.varint = Varint();
        break;
      case 1:
        Bytes(8);
        break;
      case 2:
        field.bytes = Bytes(Varint());
        break;
      case 5:
        Bytes(4);
        break;
      default:
        broken_ = true;
    }
    broken_ = broken_ || field.number == 0;
    return broken_ ? std::nullopt : std::optional<Field>(field);
  }
  bool broken() const { return broken_; }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return value;
    }
    broken_ = true;
    return 0;
  }
  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) {
      broken_ = true;
      return "";
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
  bool broken_ = false;
};

// NormalizerSpec: 2 precompiled_charsmap, 3 add_dummy_prefix,
// 4 remove_extra_whitespaces, 5 escape_whitespaces (all true by default).
bool ReadNormalizer(std::string_view spec, SentencePieceFacts& facts) {
  bool remove_spaces = true, escape = true, map = false;
  Fields fields(spec);
  while (const auto field = fields.Next()) {
    if (field->number == 2) map = !field->bytes.empty();
    if (field->number == 3) facts.add_dummy_prefix = field->varint != 0;
    if (field->number == 4) remove_spaces = field->varint != 0;
    if (field->number == 5) escape = field->varint != 0;
  }
  facts.identity = !map && !facts.add_dummy_prefix && !remove_spaces && escape;
  return !fields.broken();
}

}  // namespace

absl::StatusOr<SentencePieceFacts> ReadSentencePieceFacts(
    std::string_view bytes, std::string_view where) {
  const auto bad = [&](const std::string& what) {
    return InputError(what, where,
                      "name a model that `lockstep data train-tokenizer` or "
                      "SentencePiece's own trainer wrote");
  };
  if (bytes.empty()) return bad("the file is empty");
  SentencePieceFacts facts;
  bool trainer = false, normalizer = false;
  Fields fields(bytes);
  while (const auto field = fields.Next()) {
    if (field->number == 1) ++facts.pieces;
    if (field->number == 2) trainer = true;
    if (field->number == 3) normalizer = ReadNormalizer(field->bytes, facts);
  }
  if (fields.broken() || facts.pieces == 0) {
    return bad("not a SentencePiece model, or a truncated one");
  }
  if (!trainer || !normalizer) {
    return bad(
        "a truncated SentencePiece model: what follows its pieces is missing");
  }
  return facts;
}

}  // namespace lockstep
