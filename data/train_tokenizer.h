// A SentencePiece model of one's own text: `lockstep data train-tokenizer`.
//
// What it is: the library's trainer on the lines of the inputs, with options
// under which text comes back byte for byte (no normalisation, no added or
// removed spaces, a piece for each byte). What it is not: a choice of those
// options; a model made elsewhere is used as it is. Why so: bits per byte and
// round trips are exact only if no byte is lost.
//
// The model is a function of the text and the options: one thread, no random
// draw. Its file records the options (trainer_spec).

#ifndef DATA_TRAIN_TOKENIZER_H_
#define DATA_TRAIN_TOKENIZER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TrainTokenizerOptions {
  std::vector<std::string> inputs;  // files and folders, as for PrepareTokens
  std::string output;               // ends in ".model"
  int64_t vocab = 0;                // ids, the end of a document included
  std::string type = "bpe";         // or "unigram"
  std::string field = {};           // of JSON lines; empty: "text"
  // Above this every second line is left out, then every second of those, and
  // so on: memory holds no more.
  uint64_t sample_bytes = uint64_t{64} << 20;
};

struct TrainTokenizerReport {
  int64_t files = 0;
  uint64_t text_bytes = 0;
  int64_t lines = 0;
  int64_t sampled_lines = 0;
  uint64_t sampled_bytes = 0;
  int64_t every = 1;     // every so many lines were taken
  std::string identity;  // SHA-256 of the model file
};

// InputError for inputs that hold no text, for an output whose name is no
// model's or whose folder does not exist, and for a vocabulary that the text
// cannot fill or is too small.
absl::StatusOr<TrainTokenizerReport> TrainTokenizer(
    FileSystem& fs, const TrainTokenizerOptions& options);

}  // namespace lockstep

#endif  // DATA_TRAIN_TOKENIZER_H_
