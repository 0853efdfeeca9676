// The rows of a micro-batch sorted by token id, for the embedding's backward
// pass: what embedding.cc hands to its kernel. Sorting by (id, row) leaves the
// rows of an id ascending, so leaves come out in order and each id is one
// independent item of work.

#ifndef MODEL_KERNELS_EMBEDDING_EMBEDDING_GROUPS_H_
#define MODEL_KERNELS_EMBEDDING_EMBEDDING_GROUPS_H_

#include <cstdint>

#include "model/kernels/embedding/embedding.h"

namespace lockstep {

struct EmbeddingGroups {
  const EmbeddingBackwardArgs* args;
  int64_t first;         // id of the table's row 0
  int64_t ids;           // distinct ones
  const int64_t* rows;   // those whose ids are held, sorted by (id, row)
  const int64_t* start;  // [ids + 1], into rows
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_EMBEDDING_EMBEDDING_GROUPS_H_
