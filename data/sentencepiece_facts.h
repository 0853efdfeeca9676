// What a SentencePiece model file says of itself, read without the library.
//
// The library takes any sequence of pieces for a model: one that was cut
// between two pieces loads and encodes differently. And it does not tell how
// text is normalised before it is looked up, on which depends whether text
// comes back as it was. Both stand in the top-level fields of the file
// (sentencepiece_model.proto: 1 pieces, 2 trainer_spec, 3 normalizer_spec).

#ifndef DATA_SENTENCEPIECE_FACTS_H_
#define DATA_SENTENCEPIECE_FACTS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace lockstep {

struct SentencePieceFacts {
  int64_t pieces = 0;
  bool add_dummy_prefix = true;
  // Text is looked up as it is, but for spaces written as U+2581.
  bool identity = false;
};

// InputError, naming `where`, for bytes that are no whole model.
absl::StatusOr<SentencePieceFacts> ReadSentencePieceFacts(
    std::string_view bytes, std::string_view where);

}  // namespace lockstep

#endif  // DATA_SENTENCEPIECE_FACTS_H_
