// A SentencePiece model as a tokenizer.
//
// A model whose normalisation is the identity and which has a piece for each
// byte (what `data train-tokenizer` makes) is exact: Decode(Encode(x)) is x
// for any bytes. The library alone would replace bytes that are no UTF-8, and
// takes U+2581 for a space: those bytes, and zero bytes, are written as byte
// pieces here instead. Other models do what the library does: text may come
// back normalised, and what they have no piece for becomes their unknown id.
//
// An exact model none of whose pieces goes on after a newline encodes line by
// line, so that a document of any length is encoded in small memory, to the
// same ids wherever it is cut.

#ifndef DATA_SENTENCEPIECE_TOKENIZER_H_
#define DATA_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "data/tokenizer.h"

namespace lockstep {

// `bytes` of the model file. The end of a document is the model's "</s>", or
// an id added behind its pieces where it has none. InputError, naming `where`,
// for bytes that are no whole model.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeSentencePieceTokenizer(
    const std::string& bytes, std::string_view where);

}  // namespace lockstep

#endif  // DATA_SENTENCEPIECE_TOKENIZER_H_
