// A tax as JSON and as a table.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/tax/tax.h"

namespace lockstep {
namespace {

std::string Percent(const TaxInterval& tax) {
  return absl::StrFormat("%+8.2f %% [%+.2f, %+.2f]", 100 * tax.tax,
                         100 * tax.low, 100 * tax.high);
}

}  // namespace

std::string TaxJson(const TaxReport& report) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const TaxPart& part : report.parts) {
    parts.push_back({{"name", part.name},
                     {"bitwise", part.bitwise.tax},
                     {"layout_invariant", part.layout_invariant.tax},
                     {"bitwise_low", part.bitwise.low},
                     {"bitwise_high", part.bitwise.high},
                     {"layout_invariant_low", part.layout_invariant.low},
                     {"layout_invariant_high", part.layout_invariant.high},
                     {"fast_seconds", part.fast_seconds},
                     {"share", part.share}});
  }
  const nlohmann::ordered_json json = {{"parts", parts},
                                       {"pairs", report.pairs},
                                       {"ranks", report.ranks},
                                       {"threads", report.threads},
                                       {"samples", report.samples},
                                       {"peak_bytes", report.peak_bytes}};
  return json.dump() + "\n";
}

std::string TaxTable(const TaxReport& report) {
  std::string text = absl::StrFormat(
      "%d rank(s) of %d thread(s), %d samples a step, %d pairs%s\n%-13s %10s "
      "%6s  %-26s  %s\n",
      report.ranks, report.threads, report.samples, report.pairs,
      report.pairs < 6 ? ": too few for an interval of 95 %, so the range" : "",
      "part", "fast s", "share", "bitwise", "layout_invariant");
  for (const TaxPart& part : report.parts) {
    absl::StrAppend(&text, absl::StrFormat("%-13s %10.4f %6.3f  %-26s  %s\n",
                                           part.name, part.fast_seconds,
                                           part.share, Percent(part.bitwise),
                                           Percent(part.layout_invariant)));
  }
  return text;
}

}  // namespace lockstep
