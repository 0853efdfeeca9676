// The golden SentencePiece model, as the tests of the tokenizer use it.
//
// What it is: the model that Python's library made ids with, opened. What it is
// not: the ids. Why so: its path and the way to encode stand once.

#ifndef DATA_SENTENCEPIECE_GOLDEN_H_
#define DATA_SENTENCEPIECE_GOLDEN_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "data/test_files.h"
#include "data/tokenizer.h"
#include "determinism/check.h"

namespace lockstep {

constexpr char kGoldenModel[] = "tests/oracle/golden/sentencepiece.model";

inline std::unique_ptr<Tokenizer> GoldenTokenizer() {
  auto tokenizer = MakeTokenizer(kGoldenModel);
  LS_CHECK(tokenizer.ok()) << MessageOf(tokenizer.status());
  return *std::move(tokenizer);
}

inline std::vector<int32_t> Ids(const Tokenizer& tokenizer,
                                std::string_view text) {
  std::vector<int32_t> ids;
  tokenizer.Encode(text, ids);
  return ids;
}

}  // namespace lockstep

#endif  // DATA_SENTENCEPIECE_GOLDEN_H_
