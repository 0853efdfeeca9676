// Sampled text: a function of weights, prompt, seed and temperature.
//
// What it is: one forward pass a token over the last `sequence` tokens, and a
// draw from Philox at the token's position (N9). What it is not: fast: there is
// no cache of states, so that a generated token sees what training saw.
#ifndef LOCKSTEP_TOOLS_GENERATION_H_
#define LOCKSTEP_TOOLS_GENERATION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "data/tokenizer.h"
#include "tools/stepper.h"

namespace lockstep {

struct GenerateOptions {
  int64_t tokens = 200;      // to draw at most
  double temperature = 0.8;  // 0 takes the likeliest, lowest id first
  uint64_t seed = 0;
};

// Stops early at the end of a document. InputError for a prompt without a
// token.
absl::StatusOr<std::string> Generate(Stepper& stepper,
                                     const Tokenizer& tokenizer,
                                     std::string_view prompt,
                                     const GenerateOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_GENERATION_H_
