#include "tools/document_fault.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status NoSuch(const std::string& what, const ChangedToken& changed) {
  return InputError(what, "--fault '" + changed.text + "'",
                    "`lockstep data inspect` tells what a source holds");
}

// Where the token stands in its source's file.
absl::StatusOr<int64_t> PositionOf(const Dataset& dataset,
                                   const ChangedToken& changed) {
  if (changed.source >= dataset.source_count()) {
    return NoSuch(
        absl::StrCat("there are ", dataset.source_count(), " sources"),
        changed);
  }
  const TokenStore& file = dataset.source(changed.source).file();
  if (changed.document >= file.document_count()) {
    return NoSuch(
        absl::StrCat("the source has ", file.document_count(), " documents"),
        changed);
  }
  LS_ASSIGN_OR_RETURN(const int64_t start,
                      file.DocumentStart(changed.document));
  LS_ASSIGN_OR_RETURN(const int64_t end,
                      file.DocumentStart(changed.document + 1));
  if (changed.token < end - start) return start + changed.token;
  return NoSuch(absl::StrCat("the document has ", end - start, " tokens"),
                changed);
}

}  // namespace

absl::Status ChangeDocuments(const Dataset& dataset,
                             std::span<const uint64_t> read, FaultPlan& faults,
                             std::span<int32_t> tokens_ST1) {
  const auto row = static_cast<size_t>(dataset.sequence() + 1);
  const auto vocab = static_cast<int32_t>(dataset.tokenizer().vocab_size());
  for (const ChangedToken& changed : faults.ChangedTokens()) {
    LS_ASSIGN_OR_RETURN(const int64_t position, PositionOf(dataset, changed));
    for (size_t i = 0; i < read.size(); ++i) {
      LS_ASSIGN_OR_RETURN(const SampleLocation at, dataset.Locate(read[i]));
      const int64_t offset = position - at.first_token;
      if (at.source != changed.source || offset < 0 ||
          offset > dataset.sequence()) {
        continue;
      }
      int32_t& token = tokens_ST1[i * row + static_cast<size_t>(offset)];
      token = (token + 1) % vocab;
      faults.Met(changed.order);
    }
  }
  return absl::OkStatus();
}

}  // namespace lockstep
