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
#include "determinism/file_system.h"

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

  // The bytes that `id` adds behind `previous`: Decode of the one id, but for a
  // tokenizer that marks a document's start with a space of its own.
  virtual std::string DecodeAfter(int32_t previous, int32_t id) const;

  // How many bytes of `text`, the start of a document's rest, are encoded to
  // the same ids whatever follows them. Preparation streams those; what is left
  // it holds in memory.
  virtual size_t EncodablePrefix(std::string_view text) const = 0;

  // Whether each byte of text is the id of its value, whatever stands around
  // it: preparation then needs no ids in between.
  virtual bool ids_are_bytes() const { return false; }

  // The id of text that has no id, or -1 where all text has.
  virtual int32_t unknown() const { return -1; }

  // What kind it is, for the manifest; a path would change with a folder.
  virtual const char* name() const = 0;

  // 64 hex digits: two tokenizers with equal identities encode alike.
  virtual std::string identity() const = 0;
};

// "byte" (ids 0..255 are bytes, 256 ends a document), or the path of a
// SentencePiece model, which ends in ".model". InputError for another name, and
// for a file that cannot be read or is no model.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(FileSystem& fs,
                                                         std::string_view name);
// On the operating system's files.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(std::string_view name);

}  // namespace lockstep

#endif  // DATA_TOKENIZER_H_
