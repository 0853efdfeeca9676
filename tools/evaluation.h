// Loss on the held-out documents: exact, and the same for any micro-batch.
//
// What it is: forward passes without dropout over the validation samples, the
// losses added exactly (N6). What it is not: part of the trajectory: it draws
// nothing, touches no state and is invisible to hooks (N12).
#ifndef LOCKSTEP_TOOLS_EVALUATION_H_
#define LOCKSTEP_TOOLS_EVALUATION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/stepper.h"

namespace lockstep {

struct Evaluation {
  int64_t samples = 0;
  int64_t tokens = 0;        // labels that count
  int64_t bytes = 0;         // of text that those labels stand for
  double loss = 0;           // nats a token
  double bits_per_byte = 0;  // of the held-out text
};

// Evaluates at most `max_samples` held-out samples (0: all), `micro_batch` at a
// time, and appends the text that was scored to `text` unless that is null.
// InputError when the data holds none out.
absl::StatusOr<Evaluation> Evaluate(Stepper& stepper, int64_t max_samples,
                                    int64_t micro_batch,
                                    std::string* text = nullptr);

// One line of eval.jsonl, without its newline.
std::string EvaluationLine(int64_t step, const Evaluation& evaluation);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_EVALUATION_H_
