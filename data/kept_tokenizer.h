// A run's own copy of its tokenizer's model: RUN/data/tokenizer-KEY.model.
//
// So that a run's ids can be read as text for as long as the run is kept, also
// when the file that the recipe names has moved or changed. KEY is the start of
// the model's SHA-256, so a copy never stands under another model's name.

#ifndef DATA_KEPT_TOKENIZER_H_
#define DATA_KEPT_TOKENIZER_H_

#include <string>

#include "absl/status/status.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"

namespace lockstep {

// Counted from the run's folder.
std::string KeptTokenizerName(const std::string& identity);

// Copies the model at `path`, which `tokenizer` was made from, unless it is
// there. Nothing for a tokenizer without a file.
absl::Status KeepTokenizer(FileSystem& fs, const std::string& path,
                           const Tokenizer& tokenizer,
                           const std::string& run_dir);

}  // namespace lockstep

#endif  // DATA_KEPT_TOKENIZER_H_
