#include "data/data_config.h"

namespace lockstep {
namespace {

constexpr std::string_view kNotBuilt = "not built yet";

}  // namespace

void DescribeSection(Section& section, DataSourceConfig& config) {
  section.Path("path", config.path,
               {.help = "prefix of a .bin/.idx pair of token files"});
  section.Path("text", config.text,
               {.help = "file or folder of raw text, prepared into RUN/data"});
  section.Reserved("weight", {}, kNotBuilt);
  section.Reserved("field", {}, kNotBuilt);
  section.Int("document_bytes", config.document_bytes,
              {.min = 0,
               .help = "cut text at blank lines into documents of at least "
                       "so many bytes; 0: one file is one document"});
  section.Require(config.path.empty() != config.text.empty(),
                  config.path.empty() ? "text" : "path",
                  "a source has either `path` or `text`");
  section.Require(config.document_bytes == 0 || config.path.empty(),
                  "document_bytes", "token files have their documents already",
                  "0");
}

void DescribeSection(Section& section, DataConfig& config) {
  section.Int("sequence", config.sequence,
              {.min = 1,
               .max = int64_t{1} << 31,
               .help = "tokens that a sample predicts"});
  section.Choice("tokenizer", config.tokenizer, {"byte"},
                 {.help = "how raw text becomes token ids"});
  section.Real("validation_fraction", config.validation_fraction,
               {.min = 0,
                .below = 1,
                .help = "share of the tokens held out, in whole documents"});
  section.Reserved("weights_schedule", {}, kNotBuilt);
  bool reset_at_documents = false;
  section.Bool("reset_at_documents", reset_at_documents,
               {.help = "no state or attention across documents"});
  section.Require(!reset_at_documents, "reset_at_documents", kNotBuilt,
                  "false");
  section.Each("source", config.sources, {.help = "where tokens come from"});
  section.Require(!config.sources.empty(), "source",
                  "no [[data.source]] is given");
  section.Require(config.sources.size() <= 1, "source",
                  "blends are not built yet: give one [[data.source]]");
}

}  // namespace lockstep
