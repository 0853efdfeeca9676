// `lockstep data train-tokenizer`.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "data/train_tokenizer.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/verbs.h"

namespace lockstep {

absl::StatusOr<Answer> TrainTokenizerVerb(
    const TrainTokenizerVerbOptions& options) {
  const TrainTokenizerOptions train = {.inputs = options.inputs,
                                       .output = options.output,
                                       .vocab = options.vocab,
                                       .type = options.type,
                                       .field = options.field,
                                       .sample_bytes = options.sample_bytes};
  LS_ASSIGN_OR_RETURN(const TrainTokenizerReport r,
                      TrainTokenizer(*PosixFileSystem(), train));
  if (options.json) {
    const nlohmann::ordered_json object = {{"model", options.output},
                                           {"vocab", options.vocab},
                                           {"type", options.type},
                                           {"files", r.files},
                                           {"text_bytes", r.text_bytes},
                                           {"lines", r.lines},
                                           {"sampled_lines", r.sampled_lines},
                                           {"sampled_bytes", r.sampled_bytes},
                                           {"every", r.every},
                                           {"identity", r.identity}};
    return Answer{object.dump() + "\n"};
  }
  return Answer{absl::StrCat(
      options.output, ": ", options.vocab, " ids (", options.type, ") from ",
      r.sampled_lines, " of ", r.lines, " lines (every ", r.every, "), ",
      r.sampled_bytes, " of ", r.text_bytes, " bytes in ", r.files,
      " files\nidentity ", r.identity, "\n")};
}

}  // namespace lockstep
