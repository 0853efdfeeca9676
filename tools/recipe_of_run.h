// Whether a recipe that is given beside a run is that run's, in what matters.
//
// What it is: the keys that decide which sample is which, the keys that give a
// checkpoint's tensors their shape and meaning, and the refusal by key where
// they differ. What it is not: what a resume accepts (ckpt/manifest_compare.h):
// a question about a run changes nothing, so less must agree. Why so: without
// it a wrong recipe gives a wrong answer, or an error that blames the run.
#ifndef LOCKSTEP_TOOLS_RECIPE_OF_RUN_H_
#define LOCKSTEP_TOOLS_RECIPE_OF_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/manifest.h"
#include "data/tokenizer.h"

namespace lockstep {

// `text` is the recipe's resolved text, `run_dir` for messages.

// For `data order`: ManifestMismatch naming each key that decides which tokens
// sample g has. Another batch is a question that may be asked; a line on stderr
// says that it was.
absl::Status CheckOrderIsTheRuns(const Manifest& manifest,
                                 const std::string& text,
                                 const std::string& run_dir);

// For `eval`: InputError naming each key of another model, and the tokenizer by
// its content.
absl::Status CheckModelIsTheRuns(const Manifest& manifest,
                                 const std::string& text,
                                 const Tokenizer& tokenizer,
                                 const std::string& run_dir);

// "key: A -> B" where two recipes' models have no tensors of one shape and
// number format; not what only changes how they are computed, initialised or
// cut into stages.
std::vector<std::string> OtherModel(const std::string& from,
                                    const std::string& to);

// Documents that another split holds out may have been trained on: a line on
// stderr for each key.
void WarnOfOtherData(const Manifest& manifest, const std::string& text);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RECIPE_OF_RUN_H_
