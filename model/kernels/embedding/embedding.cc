#include "model/kernels/embedding/embedding.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/embedding/embedding_groups.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(EmbeddingBackwardRange, const EmbeddingGroups& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "chain over an id's rows in a leaf, leaves ascending";

auto EmbeddingBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(EmbeddingBackwardRange, "embedding", kOrder);
}

void CheckIds(const int32_t* ids, int64_t rows, int64_t vocab) {
  for (int64_t row = 0; row < rows; ++row) {
    LS_CHECK(ids[row] >= 0 && ids[row] < vocab)
        << "id " << ids[row] << " of row " << row << ", vocabulary " << vocab;
  }
}

EmbeddingRows Held(const std::optional<EmbeddingRows>& held, int64_t vocab) {
  const EmbeddingRows rows = held.value_or(EmbeddingRows{0, vocab});
  LS_CHECK(0 <= rows.begin && rows.begin <= rows.end && rows.end <= vocab)
      << "rows [" << rows.begin << ", " << rows.end << ") of " << vocab;
  return rows;
}

bool Has(const EmbeddingRows& held, int32_t id) {
  return held.begin <= id && id < held.end;
}

// Rows whose ids are held, sorted by (id, row).
std::vector<int64_t> SortedRows(const int32_t* ids, int64_t rows,
                                const EmbeddingRows& held) {
  std::vector<int64_t> sorted;
  sorted.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    if (Has(held, ids[row])) sorted.push_back(row);
  }
  std::sort(sorted.begin(), sorted.end(), [ids](int64_t a, int64_t b) {
    return ids[a] != ids[b] ? ids[a] < ids[b] : a < b;
  });
  return sorted;
}

// Where each id's rows begin in `sorted`, and its end.
std::vector<int64_t> Starts(const int32_t* ids,
                            const std::vector<int64_t>& sorted) {
  std::vector<int64_t> start;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || ids[sorted[i]] != ids[sorted[i - 1]]) {
      start.push_back(static_cast<int64_t>(i));
    }
  }
  start.push_back(static_cast<int64_t>(sorted.size()));
  return start;
}

}  // namespace

void EmbeddingForward(Device& device, const EmbeddingForwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  CheckIds(args.ids, args.rows, args.vocab);
  const EmbeddingRows held = Held(args.held, args.vocab);
  const size_t element = SizeOf(args.dtype);
  const size_t bytes = static_cast<size_t>(args.d) * element;
  const auto* table = static_cast<const char*>(args.table);
  auto* out = static_cast<char*>(args.out);
  const auto copy_rows = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      char* to = out + row * args.out_row_stride * element;
      const int32_t id = args.ids[row];
      if (Has(held, id)) {
        std::memcpy(to, table + (id - held.begin) * bytes, bytes);
      } else {
        std::memset(to, 0, bytes);
      }
    }
  };
  device.threads().ParallelFor(args.rows, copy_rows, GrainFor(args.d));
}

void EmbeddingBackward(Device& device, const EmbeddingBackwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  LS_CHECK_GT(args.rows_per_leaf, 0);
  LS_CHECK_EQ(args.rows % args.rows_per_leaf, 0);
  CheckIds(args.ids, args.rows, args.vocab);
  const EmbeddingRows held = Held(args.held, args.vocab);
  const std::vector<int64_t> rows = SortedRows(args.ids, args.rows, held);
  const std::vector<int64_t> start = Starts(args.ids, rows);
  const int64_t ids = static_cast<int64_t>(start.size()) - 1;
  const EmbeddingGroups groups{&args, held.begin, ids, rows.data(),
                               start.data()};
  RunKernel(device, EmbeddingBackwardRangeVariants(), groups,
            ids * ColumnBlocks(args.d), 1);
}

KernelInfo EmbeddingInfo() {
  return {"embedding",
          kOrder,
          "N1, N2, N5, N7",
          EmbeddingBackwardRangeVariants().Levels(),
          "",
          &EmbeddingCheck};
}

}  // namespace lockstep
