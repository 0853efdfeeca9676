// Loss on the held-out documents: exact, and the same for any micro-batch.
//
// What it is: forward passes without dropout over the validation samples,
// shared out among the replicas, the losses added exactly (N6); every rank
// calls. What it is not: part of the trajectory: it draws nothing, touches no
// state and is invisible to hooks (N12).
#ifndef LOCKSTEP_TOOLS_EVALUATION_H_
#define LOCKSTEP_TOOLS_EVALUATION_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/stepper.h"

namespace lockstep {

struct EvaluationPart {
  int64_t samples = 0;
  int64_t tokens = 0;  // labels that count
  // Of the text that those labels stand for, an end of a document for none.
  // 0 where token files hold ids that the tokenizer does not know;
  // bits_per_byte is then NaN, null in JSON.
  int64_t bytes = 0;
  double loss = 0;           // nats a token
  double bits_per_byte = 0;  // of the held-out text
  // Of `loss` as an estimate for all text that these samples stand for: of a
  // ratio of sums over samples, which need not be of one length. NaN, in JSON
  // null, for fewer than two samples. Not the noise of seeds.
  double standard_error = 0;
};

// Over all that was held out, and for each data source in the recipe's order.
struct Evaluation : EvaluationPart {
  std::vector<EvaluationPart> sources;
};

// Evaluates at most `max_samples` held-out samples of each source (0: all),
// `micro_batch` at a time, and appends the text that was scored to `text`
// unless that is null. InputError when a source holds none out.
absl::StatusOr<Evaluation> Evaluate(Stepper& stepper, int64_t max_samples,
                                    int64_t micro_batch,
                                    std::string* text = nullptr);

// `sources` of an evaluation, as in the answers of `eval` and eval.jsonl.
nlohmann::ordered_json SourcesJson(const Evaluation& evaluation);

// One line of eval.jsonl, without its newline.
std::string EvaluationLine(int64_t step, const Evaluation& evaluation);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_EVALUATION_H_
