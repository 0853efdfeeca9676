// Training and validation: a boundary between documents.
//
// The validation set is the last documents that reach the asked share of the
// tokens. A boundary and not a draw per document, because a boundary is found
// by binary search and costs no memory on files of any size, where a draw
// needs a prefix table over all documents; disjointness is then plain. The
// documents' order is the preparer's, so a corpus sorted by topic holds out
// its last topics: shuffle files by name if that matters.

#ifndef DATA_SPLIT_H_
#define DATA_SPLIT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "data/token_store.h"

namespace lockstep {

struct DocumentSplit {
  int64_t train_documents = 0;  // documents 0 .. train_documents - 1
  int64_t train_tokens = 0;     // tokens 0 .. train_tokens - 1
  int64_t validation_documents = 0;
  int64_t validation_tokens = 0;
};

// `validation_fraction` in [0, 1); 0 holds out nothing. At least one document
// with tokens on each side, else InputError (a single document, say).
absl::StatusOr<DocumentSplit> SplitDocuments(const TokenStore& file,
                                             double validation_fraction);

}  // namespace lockstep

#endif  // DATA_SPLIT_H_
