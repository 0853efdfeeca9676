// A sample of a step, printed: as a row of a table, in detail, and as JSON.
//
// What it is: what `explain` and `replay` say of each sample. What it is not:
// the measuring (explanation.h). Why so: two commands that show the same thing
// must not show it in two ways. The JSON object's fields are in
// explain_report.h.
#ifndef LOCKSTEP_TOOLS_SAMPLE_REPORT_H_
#define LOCKSTEP_TOOLS_SAMPLE_REPORT_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "tools/explanation.h"

namespace lockstep {

// What a sample's numbers are called.
struct SampleNames {
  std::vector<std::string> sources = {};  // prefixes of their token files
  std::function<std::string(std::span<const int32_t>)> decode = {};
};
// Borrows the dataset.
SampleNames NamesOf(const Dataset& dataset);

// With a line of headings.
std::string SampleTable(std::span<const SampleExplanation> samples);
// Documents and text; `full`: all of them.
std::string SampleDetail(const SampleExplanation& sample, bool full);
nlohmann::ordered_json SampleJson(const SampleNames& names,
                                  const SampleExplanation& sample, bool full);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SAMPLE_REPORT_H_
