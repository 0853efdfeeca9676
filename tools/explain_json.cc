// The JSON of `explain`: see explain_report.h for the fields.
#include <nlohmann/json.hpp>

#include "tools/explain_report.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShortText = 240;  // characters

const char* VerdictOf(const ExplainReport& report) {
  if (!report.done) return "stopped";
  if (!report.done->recorded) return "not_recorded";
  return report.done->recurs() ? "recurs_to_the_bit" : "does_not_recur";
}

Json ReferenceJson(const ExplainReport& report) {
  const auto steps = static_cast<int64_t>(report.losses_before.size());
  return {{"first_step", report.step - steps},
          {"last_step", report.step - 1},
          {"samples", report.before.size()},
          {"loss", Median(report.losses_before)},
          {"grad_norm", Median(report.norms_before)}};
}

Json DocumentJson(const DocumentPart& part) {
  return {{"document", part.document},      {"offset", part.offset},
          {"position", part.position},      {"tokens", part.tokens},
          {"labels", part.labels},          {"loss", part.loss},
          {"longest_run", part.longest_run}};
}

Json NgramsJson(const ExplainReport& report, const SampleExplanation& sample) {
  Json ngrams = Json::array();
  for (const NgramCounts& counts : sample.repetition.ngrams) {
    ngrams.push_back({{"n", counts.n},
                      {"top_share", counts.top_share()},
                      {"top_count", counts.top_count},
                      {"top_text", VisibleText(report.decode(counts.top), 0)},
                      {"repeated_share", counts.repeated_share()}});
  }
  return ngrams;
}

Json SampleJson(const ExplainReport& report, const SampleExplanation& sample,
                bool full) {
  const Repetition& repetition = sample.repetition;
  Json json = {
      {"global_index", sample.at.global_index},
      {"source", sample.at.source},
      {"path", report.sources[static_cast<size_t>(sample.at.source)]},
      {"epoch", sample.at.epoch},
      {"sample", sample.at.sample},
      {"first_token", sample.at.first_token},
      {"labels", sample.labels},
      {"loss", sample.loss},
      {"loss_bits", BitsOf(sample.loss)},
      {"loss_z", sample.loss_z},
      {"excess_share", sample.excess_share},
      {"suspicion", sample.suspicion},
      {"longest_run",
       {{"length", repetition.longest_run},
        {"position", repetition.run_first},
        {"token", repetition.run_token},
        {"text", VisibleText(report.decode({&repetition.run_token, 1}), 0)}}},
      {"distinct_share", repetition.distinct_share()},
      {"ngrams", NgramsJson(report, sample)},
      {"repeated_share", repetition.repeated_share()},
      {"repetition_z", sample.repetition_z},
      {"non_text_share", sample.non_text_share},
      {"as_in_file", sample.as_in_file},
      {"text", VisibleText(sample.text, full ? 0 : kShortText)}};
  json["documents"] = Json::array();
  for (const DocumentPart& part : sample.documents) {
    json["documents"].push_back(DocumentJson(part));
  }
  return json;
}

Json SuspectJson(const ExplainReport& report) {
  const SampleExplanation& sample = report.samples.front();
  const DocumentPart& part = sample.documents[sample.suspect_part];
  return {{"sample", sample.at.global_index},
          {"source", sample.at.source},
          {"path", report.sources[static_cast<size_t>(sample.at.source)]},
          {"document", part.document},
          {"offset", part.offset},
          {"loss", part.loss},
          {"loss_z", sample.loss_z},
          {"excess_share", sample.excess_share},
          {"longest_run", part.longest_run}};
}

}  // namespace

std::string ExplainJson(const ExplainReport& report, bool full) {
  Json json = {{"step", report.step},
               {"verdict", VerdictOf(report)},
               {"stopped", report.stopped},
               {"differences", Json::array()},
               {"first_difference", report.first_difference},
               {"began_at", report.began_at},
               {"notes", report.notes}};
  if (report.done) {
    const StepReport& step = report.done->report;
    json["differences"] = report.done->differences;
    json["loss"] = step.loss;
    json["loss_bits"] = BitsOf(step.loss);
    json["grad_norm"] = step.grad_norm;
    json["grad_norm_bits"] = BitsOf(step.grad_norm);
    json["fingerprint"] = step.fingerprint;
  }
  json["reference"] = ReferenceJson(report);
  json["suspect"] = SuspectJson(report);
  json["samples"] = Json::array();
  for (const SampleExplanation& sample : report.samples) {
    json["samples"].push_back(SampleJson(report, sample, full));
  }
  return json.dump() + "\n";
}

}  // namespace lockstep
