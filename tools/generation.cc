#include "tools/generation.h"

#include <algorithm>
#include <span>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/philox.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

int32_t Likeliest(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) -
                              logits.begin());
}

// Inverse of the cumulative distribution, ids ascending.
int32_t Draw(std::span<const float> logits, double temperature, float uniform) {
  const float top = logits[static_cast<size_t>(Likeliest(logits))];
  const auto scale = static_cast<float>(1.0 / temperature);
  std::vector<double> cumulative(logits.size());
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    sum += math::Exp((logits[i] - top) * scale);
    cumulative[i] = sum;
  }
  const double target = uniform * sum;
  const auto it =
      std::upper_bound(cumulative.begin(), cumulative.end(), target);
  const auto last = static_cast<ptrdiff_t>(logits.size()) - 1;
  return static_cast<int32_t>(std::min(it - cumulative.begin(), last));
}

int32_t NextToken(Stepper& stepper, const std::vector<int32_t>& ids,
                  const GenerateOptions& options) {
  const auto window = std::min<size_t>(
      ids.size(), static_cast<size_t>(stepper.config().data.sequence));
  OperationHooks none;
  const StepContext context = {.device = stepper.device(),
                               .hooks = none,
                               .phase = Phase::kEvaluate,
                               .samples = 1,
                               .tokens = static_cast<int64_t>(window),
                               .training = false,
                               .tensor = stepper.tensor_axis()};
  const Tensor logits = stepper.pipeline().whole().Logits(
      context, ids.data() + ids.size() - window);
  const auto vocab = static_cast<size_t>(stepper.config().model.vocab);
  const std::span<const float> last(
      logits.data<float>() + (context.tokens - 1) * logits.dim(1), vocab);
  if (options.temperature == 0.0) return Likeliest(last);
  const float uniform = RandomUniform(
      options.seed,
      {Stream::kGenerate, 0, 0, static_cast<uint64_t>(ids.size())});
  return Draw(last, options.temperature, uniform);
}

}  // namespace

absl::StatusOr<std::string> Generate(Stepper& stepper,
                                     const Tokenizer& tokenizer,
                                     std::string_view prompt,
                                     const GenerateOptions& options) {
  const ScopedFloatEnv float_env;
  std::vector<int32_t> ids;
  tokenizer.Encode(prompt, ids);
  if (ids.empty()) {
    return InputError("the prompt has no token", "--prompt",
                      "give some text to go on from");
  }
  std::vector<int32_t> drawn;
  for (int64_t i = 0; i < options.tokens; ++i) {
    const int32_t next = NextToken(stepper, ids, options);
    if (next == tokenizer.end_of_document()) break;
    ids.push_back(next);
    drawn.push_back(next);
  }
  return tokenizer.Decode(drawn);
}

}  // namespace lockstep
