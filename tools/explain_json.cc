// The JSON of `explain`: see explain_report.h for the fields.
#include <nlohmann/json.hpp>

#include "tools/explain_report.h"
#include "tools/metrics.h"
#include "tools/sample_report.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

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

Json SuspectJson(const ExplainReport& report) {
  const SampleExplanation& sample = report.samples.front();
  const DocumentPart& part = sample.documents[sample.suspect_part];
  return {{"sample", sample.at.global_index},
          {"source", sample.at.source},
          {"path", report.names.sources[static_cast<size_t>(sample.at.source)]},
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
    json["samples"].push_back(SampleJson(report.names, sample, full));
  }
  return json.dump() + "\n";
}

}  // namespace lockstep
