// `lockstep eval` and `lockstep generate`: use a run's model, change nothing.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ckpt/manifest.h"
#include "determinism/status.h"
#include "tools/checkpoint_at.h"
#include "tools/evaluation.h"
#include "tools/generation.h"
#include "tools/metrics.h"
#include "tools/output_check.h"
#include "tools/recipe_of_run.h"
#include "tools/run_setup.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

std::string EvaluationText(const Evaluation& e, int64_t step, bool json) {
  if (!json) {
    std::string text = absl::StrFormat(
        "step %d: held-out loss %.6f nats a token, %.4f bits per byte, over "
        "%d samples, %d tokens\n",
        step, e.loss, e.bits_per_byte, e.samples, e.tokens);
    for (size_t s = 0; e.sources.size() > 1 && s < e.sources.size(); ++s) {
      const EvaluationPart& part = e.sources[s];
      absl::StrAppendFormat(
          &text, "  source %d: %.6f, %.4f, %d samples, %d tokens\n", s,
          part.loss, part.bits_per_byte, part.samples, part.tokens);
    }
    return text;
  }
  nlohmann::ordered_json object;
  object["step"] = step;
  object["loss"] = e.loss;
  object["loss_bits"] = BitsOf(e.loss);
  object["bits_per_byte"] = e.bits_per_byte;
  object["sources"] = SourcesJson(e);
  return object.dump() + "\n";
}

}  // namespace

absl::StatusOr<Answer> EvalVerb(const EvalOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const ModelPlace place,
                      PlaceOfModel(fs, options.run_dir, options.checkpoint));
  LS_RETURN_IF_ERROR(CheckRunExists(fs, place.run_dir));
  LS_ASSIGN_OR_RETURN(
      const ResolvedRun run,
      ResolveRun(fs, options.recipe, options.sets, place.run_dir));
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, run.run_dir));
  LS_ASSIGN_OR_RETURN(const auto tokenizer,
                      MakeTokenizer(run.config.data.tokenizer));
  const std::string ours = run.recipe.ResolvedText();
  LS_RETURN_IF_ERROR(
      CheckModelIsTheRuns(manifest, ours, *tokenizer, run.run_dir));
  WarnOfOtherData(manifest, ours);
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  LS_ASSIGN_OR_RETURN(const auto dataset,
                      Dataset::Open(fs, run.config.data, run.run_dir,
                                    run.config.seed, run.config.model.vocab));
  LS_ASSIGN_OR_RETURN(
      const auto model,
      TrainedModel::Load(fs, run.config, run.run_dir, place.checkpoint, machine,
                         dataset.get()));
  const int64_t micro =
      options.micro_batch > 0 ? options.micro_batch : run.config.batch.micro;
  std::string text;
  // Before the work: it is easily taken for an input.
  if (!options.text.empty() && fs.Exists(options.text)) {
    return InputError("--text writes the text that was scored, and this exists",
                      options.text, "name a new file, or remove this one");
  }
  if (!options.text.empty()) {
    LS_RETURN_IF_ERROR(CheckOutputFile(fs, options.text, "--text"));
  }
  LS_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      Evaluate(model->stepper(), run.config.eval.samples, micro, &text));
  if (!options.text.empty()) {
    LS_RETURN_IF_ERROR(WriteFileAtomically(fs, options.text, text));
  }
  return Answer{EvaluationText(evaluation, model->step(), options.json)};
}

absl::StatusOr<Answer> GenerateVerb(const GenerateVerbOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  if (options.temperature != options.temperature) {
    return InputError("a temperature is a number", "--temperature",
                      "give one from 0 to 100");
  }
  LS_ASSIGN_OR_RETURN(const ModelPlace place,
                      PlaceOfModel(fs, options.run_dir, options.checkpoint));
  LS_ASSIGN_OR_RETURN(const RunConfig config, ConfigOfRun(fs, place.run_dir));
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  LS_ASSIGN_OR_RETURN(const auto tokenizer,
                      MakeTokenizer(config.data.tokenizer));
  LS_ASSIGN_OR_RETURN(const auto model,
                      TrainedModel::Load(fs, config, place.run_dir,
                                         place.checkpoint, machine, nullptr));
  LS_ASSIGN_OR_RETURN(const std::string text,
                      Generate(model->stepper(), *tokenizer, options.prompt,
                               {.tokens = options.tokens,
                                .temperature = options.temperature,
                                .seed = static_cast<uint64_t>(options.seed)}));
  if (!options.json) return Answer{options.prompt + text + "\n"};
  nlohmann::ordered_json object;
  object["step"] = model->step();
  object["prompt"] = options.prompt;
  object["text"] = text;
  // A model may draw bytes that are no UTF-8; JSON shows those as U+FFFD.
  return Answer{
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
      "\n"};
}

}  // namespace lockstep
