#include "tools/tax_verb.h"

#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<Answer> TaxVerb(const TaxVerbOptions& options) {
  LS_ASSIGN_OR_RETURN(const TaxReport report, MeasureTax(options.tax));
  return Answer{options.json ? TaxJson(report) : TaxTable(report)};
}

}  // namespace lockstep
