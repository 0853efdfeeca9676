// Embedding: rows of a table selected by token id, and the gradient of the
// table.
//
// Forward copies bytes. Backward adds gradients, in fp32 (N1, N5, N7): within a
// leaf (rows_per_leaf consecutive rows), for each distinct id, one chain from
// +0 over the leaf's rows with that id, ascending; then dtable[id] += that sum,
// leaves ascending. Rows of ids that do not occur are not touched, and nothing
// is divided. The work is cut by (id, columns), so threads cannot change a bit.
//
// A rank may hold only some rows of the table: `held` are their ids. Forward
// then writes +0 where the id is another's, so that every row of the output has
// bits on one rank; backward passes over such ids.
//
// Ids outside [0, vocab) are a bug of the caller (LS_CHECK): data checks its
// files.

#ifndef MODEL_KERNELS_EMBEDDING_EMBEDDING_H_
#define MODEL_KERNELS_EMBEDDING_EMBEDDING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

// Ids [begin, end) of the rows that a table has; row 0 is `begin`'s.
struct EmbeddingRows {
  int64_t begin;
  int64_t end;
};

struct EmbeddingForwardArgs {
  int64_t rows = 0;  // tokens
  int64_t d = 0;
  int64_t vocab = 0;             // rows of the whole table
  DType dtype{};                 // of table and out: F32, BF16 or F16
  const void* table = nullptr;   // [vocab or held, d], contiguous
  const int32_t* ids = nullptr;  // [rows]
  void* out = nullptr;
  int64_t out_row_stride = 0;                        // in elements
  std::optional<EmbeddingRows> held = std::nullopt;  // none: all rows
};
void EmbeddingForward(Device& device, const EmbeddingForwardArgs& args);

struct EmbeddingBackwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  int64_t vocab = 0;
  int64_t rows_per_leaf = 0;  // divides rows
  DType dtype{};              // storage of dout
  const void* dout = nullptr;
  int64_t dout_row_stride = 0;
  const int32_t* ids = nullptr;  // [rows]
  float* dtable = nullptr;       // [vocab or held, d], added to
  std::optional<EmbeddingRows> held = std::nullopt;  // none: all rows
};
void EmbeddingBackward(Device& device, const EmbeddingBackwardArgs& args);

KernelInfo EmbeddingInfo();
// The operation on fixed inputs (self_check.h).
std::string EmbeddingCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_EMBEDDING_EMBEDDING_H_
