#include "tools/sample_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShortText = 240;     // characters, in JSON
constexpr int64_t kTextShown = 160;     // characters
constexpr size_t kDocumentsShown = 12;  // of a sample

Json DocumentJson(const DocumentPart& part) {
  return {{"document", part.document},      {"offset", part.offset},
          {"position", part.position},      {"tokens", part.tokens},
          {"labels", part.labels},          {"loss", part.loss},
          {"longest_run", part.longest_run}};
}

Json NgramsJson(const SampleNames& names, const SampleExplanation& sample) {
  Json ngrams = Json::array();
  for (const NgramCounts& counts : sample.repetition.ngrams) {
    ngrams.push_back({{"n", counts.n},
                      {"top_share", counts.top_share()},
                      {"top_count", counts.top_count},
                      {"top_text", VisibleText(names.decode(counts.top), 0)},
                      {"repeated_share", counts.repeated_share()}});
  }
  return ngrams;
}

}  // namespace

SampleNames NamesOf(const Dataset& dataset) {
  SampleNames names;
  for (int64_t i = 0; i < dataset.source_count(); ++i) {
    names.sources.push_back(dataset.source(i).file().prefix());
  }
  names.decode = [&dataset](std::span<const int32_t> tokens) {
    return dataset.tokenizer().Decode(tokens);
  };
  return names;
}

Json SampleJson(const SampleNames& names, const SampleExplanation& sample,
                bool full) {
  const Repetition& repetition = sample.repetition;
  Json json = {
      {"global_index", sample.at.global_index},
      {"source", sample.at.source},
      {"path", names.sources[static_cast<size_t>(sample.at.source)]},
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
        {"text", VisibleText(names.decode({&repetition.run_token, 1}), 0)}}},
      {"distinct_share", repetition.distinct_share()},
      {"ngrams", NgramsJson(names, sample)},
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

std::string SampleTable(std::span<const SampleExplanation> samples) {
  std::string text =
      "      sample source epoch    number     loss       z  excess  run "
      "distinct repeated  no text  documents\n";
  for (const SampleExplanation& s : samples) {
    absl::StrAppendFormat(
        &text,
        "%12d %6d %5d %9d %8.4f %7.1f %6.1f%% %4d %7.1f%% %7.1f%% %7.1f%%  %d",
        s.at.global_index, s.at.source, s.at.epoch, s.at.sample, s.loss,
        s.loss_z, s.excess_share * 100, s.repetition.longest_run,
        s.repetition.distinct_share() * 100,
        s.repetition.repeated_share() * 100, s.non_text_share * 100,
        s.documents.front().document);
    if (s.documents.size() > 1) {
      absl::StrAppendFormat(&text, " to %d", s.documents.back().document);
    }
    text += s.as_in_file ? "\n" : "  (NOT the tokens of the file)\n";
  }
  return text;
}

std::string SampleDetail(const SampleExplanation& s, bool full) {
  std::string text = absl::StrFormat(
      "\nsample %d: suspicion %.1f, tokens from %d of source %d\n",
      s.at.global_index, s.suspicion, s.at.first_token, s.at.source);
  const size_t most = full ? s.documents.size() : kDocumentsShown;
  for (size_t i = 0; i < std::min(most, s.documents.size()); ++i) {
    const DocumentPart& part = s.documents[i];
    absl::StrAppendFormat(
        &text,
        "  document %d from its token %d: %d tokens at %d, loss %.4f, longest "
        "run %d\n",
        part.document, part.offset, part.tokens, part.position, part.loss,
        part.longest_run);
  }
  if (most < s.documents.size()) {
    absl::StrAppend(&text, "  and ", s.documents.size() - most,
                    " more documents (--full)\n");
  }
  return absl::StrCat(text, "  ", VisibleText(s.text, full ? 0 : kTextShown),
                      "\n");
}

}  // namespace lockstep
