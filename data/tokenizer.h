// Text to token ids and back, behind one interface.
//
// For preparation (text into token files) and for printing what a model made.
// Not for training: a training step reads ids from token files and never sees
// text. A tokenizer is immutable, and `identity` names its behaviour, so that
// a prepared file can say which tokenizer made it and a cache can notice that
// it changed.

#ifndef DATA_TOKENIZER_H_
#define DATA_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids are 0 .. vocab_size() - 1, the end-of-document id included.
  virtual int64_t vocab_size() const = 0;
  virtual int32_t end_of_document() const = 0;

  // Appends the ids of `text` to `out`; never appends end_of_document().
  virtual void Encode(std::string_view text,
                      std::vector<int32_t>& out) const = 0;

  // The bytes of `ids`; end_of_document() stands for none. An id outside the
  // vocabulary (a model's padded columns) becomes U+FFFD.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;

  // True when Encode(a + b) is Encode(a) then Encode(b) wherever the text is
  // cut. Preparation then streams a document; else it holds a whole one.
  virtual bool SplitsAnywhere() const = 0;

  // 64 hex digits: two tokenizers with equal identities encode alike.
  virtual std::string identity() const = 0;
};

// Names: "byte" (ids 0..255 are bytes, 256 ends a document). Another name is
// an InputError.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(std::string_view name);

}  // namespace lockstep

#endif  // DATA_TOKENIZER_H_
