#include "data/split.h"

#include <algorithm>
#include <string>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
absl::StatusOr<DocumentSplit> SplitDocuments(const TokenStore& file,
                                             double validation_fraction) {
  LS_CHECK(validation_fraction >= 0 && validation_fraction < 1)
      << validation_fraction;
  const int64_t tokens = file.token_count();
  DocumentSplit split = {file.document_count(), tokens, 0, 0};
  if (validation_fraction == 0) {
    return split;
  }
  // At least one token, so that the boundary's document is not empty.
  const int64_t wanted = std::clamp<int64_t>(
      static_cast<int64_t>(validation_fraction * static_cast<double>(tokens)),
      1, tokens);
  LS_ASSIGN_OR_RETURN(int64_t boundary, file.DocumentOf(tokens - wanted));
  LS_ASSIGN_OR_RETURN(int64_t start, file.DocumentStart(boundary));
  if (start == 0) {
    // The documents are too large for the share: the fewest that leave any
    // training tokens are held out, those after the first with tokens.
    LS_ASSIGN_OR_RETURN(boundary, file.DocumentOf(0));
    ++boundary;
    LS_ASSIGN_OR_RETURN(start, file.DocumentStart(boundary));
  }
  if (start == tokens) {
    return InputError(
        "no document can be held out: all tokens are in one document",
        file.prefix() + ", " + std::to_string(file.document_count()) +
            " documents",
        "set data.source.document_bytes so that text is cut at blank lines, "
        "add documents, or set data.validation_fraction = 0");
  }
  split.train_documents = boundary;
  split.train_tokens = start;
  split.validation_documents = file.document_count() - boundary;
  split.validation_tokens = tokens - start;
  return split;
}

}  // namespace lockstep
