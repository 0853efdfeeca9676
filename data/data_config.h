// The recipe's `data` section and its [[data.source]] tables.

#ifndef DATA_DATA_CONFIG_H_
#define DATA_DATA_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/section.h"

namespace lockstep {

struct DataSourceConfig {
  // Exactly one of the two is set. Relative to the recipe as written, relative
  // to the process once read (Section::Path).
  std::string path = {};  // prefix of a token file pair, or shards
  std::string text = {};  // file or folder of raw text, prepared into RUN/data
  int64_t document_bytes = 0;  // see text_source.h
  double weight = 1;           // relative to the other sources', see blend.h
  std::string field = {};      // of JSON lines; empty: "text"
};

// Other weights from a sample of the run on; each source continues.
struct WeightsChange {
  int64_t from_sample = 0;
  std::vector<double> weights;  // one a source, in their order
};

struct DataConfig {
  int64_t sequence = 512;          // T: tokens that a sample predicts
  std::string tokenizer = "byte";  // or the path of a SentencePiece model
  // Share of the tokens held out, in whole documents; 0 holds out none.
  double validation_fraction = 0.0;
  // No state, convolution or attention across documents (N14).
  bool reset_at_documents = false;
  std::vector<DataSourceConfig> sources;
  std::vector<WeightsChange> weights_schedule;  // ascending
  // See prefetch.h; either at 0 reads a batch when its step begins.
  int64_t prefetch = 1;  // batches ahead
  int64_t prefetch_threads = 1;
};

void DescribeSection(Section& section, DataSourceConfig& config);
void DescribeSection(Section& section, WeightsChange& config);
void DescribeSection(Section& section, DataConfig& config);

}  // namespace lockstep

#endif  // DATA_DATA_CONFIG_H_
