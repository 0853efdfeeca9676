// `lockstep tax`, as verbs.h has the other verbs.
#ifndef LOCKSTEP_TOOLS_TAX_VERB_H_
#define LOCKSTEP_TOOLS_TAX_VERB_H_

#include "tools/tax/tax.h"
#include "tools/verbs.h"

namespace lockstep {

struct TaxVerbOptions {
  TaxOptions tax;
  bool json = false;
};
absl::StatusOr<Answer> TaxVerb(const TaxVerbOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TAX_VERB_H_
