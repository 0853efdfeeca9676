#include "data/data_config.h"

#include <algorithm>

#include "determinism/file_system.h"

namespace lockstep {
namespace {

constexpr int64_t kMostPrefetch = 64;

void CheckWeights(Section& section, const DataConfig& config) {
  const auto& sources = config.sources;
  section.Require(sources.empty() || std::any_of(sources.begin(), sources.end(),
                                                 [](const DataSourceConfig& s) {
                                                   return s.weight > 0;
                                                 }),
                  "source", "all weights are zero");
  int64_t last = 0;
  for (const WeightsChange& change : config.weights_schedule) {
    section.Require(change.from_sample > last, "weights_schedule",
                    "from_sample does not ascend");
    section.Require(change.weights.size() == sources.size(), "weights_schedule",
                    "an entry needs one weight for each [[data.source]]");
    section.Require(std::any_of(change.weights.begin(), change.weights.end(),
                                [](double w) { return w > 0; }),
                    "weights_schedule", "all weights of an entry are zero");
    last = change.from_sample;
  }
}

// A word or a path; as a path, the word counts from the recipe's folder.
void ReadTokenizer(Section& section, std::string& tokenizer) {
  section.Path("tokenizer", tokenizer,
               {.help = "how raw text becomes token ids: \"byte\", or the path "
                        "of a SentencePiece model, which ends in .model"});
  if (BaseName(tokenizer) == "byte") {
    tokenizer = "byte";
  }
  section.Require(tokenizer == "byte" || tokenizer.ends_with(".model"),
                  "tokenizer", "neither \"byte\" nor a path ending in .model",
                  "byte");
}

}  // namespace

void DescribeSection(Section& section, DataSourceConfig& config) {
  section.Path(
      "path", config.path,
      {.help = "prefix of a .bin/.idx pair, or llm.c shards: a .bin, a "
               "folder, a pattern, a .list file"});
  section.Path("text", config.text,
               {.help = "file or folder of raw text, prepared into RUN/data"});
  section.Real("weight", config.weight,
               {.min = 0, .help = "share of the samples, relative to others"});
  section.String("field", config.field,
                 {.help = "the field of .jsonl lines that holds the text; "
                          "\"text\" where none is named"});
  section.Int("document_bytes", config.document_bytes,
              {.min = 0,
               .help = "cut text at blank lines into documents of at least "
                       "so many bytes; 0: one file is one document"});
  section.Require(config.path.empty() != config.text.empty(),
                  section.Given("path") ? "path" : "text",
                  config.path.empty()
                      ? "names no file; a source has either `path` or `text`"
                      : "a source has either `path` or `text`, not both");
  section.Require(config.document_bytes == 0 || config.path.empty(),
                  "document_bytes", "token files have their documents already",
                  "0");
  section.Require(config.field.empty() || config.path.empty(), "field",
                  "token files have no fields", "\"\"");
}

void DescribeSection(Section& section, WeightsChange& config) {
  section.Int("from_sample", config.from_sample,
              {.min = 1, .help = "global index of the first sample"});
  section.RealList("weights", config.weights,
                   {.min = 0,
                    .min_count = 1,
                    .help = "one a source, in the sources' order"});
}

void DescribeSection(Section& section, DataConfig& config) {
  section.Int("sequence", config.sequence,
              {.min = 1,
               .max = int64_t{1} << 31,
               .help = "tokens that a sample predicts"});
  ReadTokenizer(section, config.tokenizer);
  section.Real("validation_fraction", config.validation_fraction,
               {.min = 0,
                .below = 1,
                .help = "share of the tokens held out, in whole documents"});
  section.Bool("reset_at_documents", config.reset_at_documents,
               {.help = "no state or attention across documents"});
  section.Each("source", config.sources, {.help = "where tokens come from"});
  section.Require(!config.sources.empty(), "source",
                  "no [[data.source]] is given");
  section.Each("weights_schedule", config.weights_schedule,
               {.help = "other weights from a sample on"});
  CheckWeights(section, config);
  section.Int("prefetch", config.prefetch,
              {.min = 0,
               .max = kMostPrefetch,
               .help = "batches read ahead of their step; 0: none",
               .trajectory = false});
  section.Int("prefetch_threads", config.prefetch_threads,
              {.min = 0,
               .max = kMostPrefetch,
               .help = "threads that read ahead; 0: nothing is read ahead",
               .trajectory = false});
}

}  // namespace lockstep
