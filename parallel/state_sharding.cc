#include "parallel/state_sharding.h"

#include <algorithm>
#include <numeric>

#include "determinism/check.h"

namespace lockstep {
namespace {

// The `count` ranks that own least, lowest rank first among equals.
std::vector<int> Poorest(const std::vector<int64_t>& owned, int64_t count) {
  std::vector<int> ranks(owned.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return owned[static_cast<size_t>(a)] < owned[static_cast<size_t>(b)];
  });
  ranks.resize(static_cast<size_t>(count));
  return ranks;
}

}  // namespace

StateSharding::StateSharding(std::span<const ShardedTensor> tensors, int ranks)
    : ranks_(ranks), tensors_(tensors.begin(), tensors.end()) {
  LS_CHECK_GE(ranks, 1);
  const auto n = static_cast<size_t>(ranks);
  std::vector<int64_t> owned(n, 0);  // elements
  for (const ShardedTensor& tensor : tensors_) {
    LS_CHECK(tensor.rows >= 0 && tensor.row_elements >= 0);
    std::vector<int64_t> rows(n, tensor.rows / ranks);
    for (const int rank : Poorest(owned, tensor.rows % ranks)) {
      ++rows[static_cast<size_t>(rank)];
    }
    begins_.push_back(0);
    for (size_t rank = 0; rank < n; ++rank) {
      begins_.push_back(begins_.back() + rows[rank]);
      owned[rank] += rows[rank] * tensor.row_elements;
    }
  }
}

RowRange StateSharding::RowsOf(int64_t tensor, int rank) const {
  LS_CHECK(tensor >= 0 && tensor < tensors()) << tensor;
  LS_CHECK(rank >= 0 && rank < ranks_) << rank;
  const auto at = static_cast<size_t>(tensor * (ranks_ + 1) + rank);
  return {begins_[at], begins_[at + 1]};
}

int StateSharding::OwnerOf(int64_t tensor, int64_t row) const {
  LS_CHECK(tensor >= 0 && tensor < tensors()) << tensor;
  LS_CHECK(row >= 0 && row < tensors_[static_cast<size_t>(tensor)].rows) << row;
  const auto first = begins_.begin() + tensor * (ranks_ + 1);
  const auto above = std::upper_bound(first, first + ranks_ + 1, row);
  return static_cast<int>(above - first) - 1;
}

std::vector<int64_t> StateSharding::CountsOf(int64_t tensor) const {
  std::vector<int64_t> counts;
  for (int rank = 0; rank < ranks_; ++rank) {
    counts.push_back(RowsOf(tensor, rank).rows() *
                     tensors_[static_cast<size_t>(tensor)].row_elements);
  }
  return counts;
}

int64_t StateSharding::ElementsOf(int rank) const {
  int64_t elements = 0;
  for (int64_t tensor = 0; tensor < tensors(); ++tensor) {
    elements += RowsOf(tensor, rank).rows() *
                tensors_[static_cast<size_t>(tensor)].row_elements;
  }
  return elements;
}

std::vector<GradientBucket> PlanBuckets(std::span<const ShardedTensor> tensors,
                                        int64_t bucket_elements) {
  LS_CHECK_GE(bucket_elements, 1);
  std::vector<GradientBucket> buckets;
  bool open = false;
  for (auto i = static_cast<int64_t>(tensors.size()); i-- > 0;) {
    const ShardedTensor& tensor = tensors[static_cast<size_t>(i)];
    const int64_t elements = tensor.rows * tensor.row_elements;
    if (!open || elements >= bucket_elements) buckets.emplace_back();
    buckets.back().tensors.push_back(i);
    buckets.back().elements += elements;
    open = buckets.back().elements < bucket_elements;
  }
  return buckets;
}

BucketLayout LayOutBucket(const StateSharding& sharding,
                          const GradientBucket& bucket) {
  BucketLayout layout;
  int64_t offset = 0;
  for (int rank = 0; rank < sharding.ranks(); ++rank) {
    const int64_t begin = offset;
    for (const int64_t tensor : bucket.tensors) {
      const int64_t elements =
          sharding.CountsOf(tensor)[static_cast<size_t>(rank)];
      if (elements == 0) continue;
      layout.pieces.push_back({.rank = rank,
                               .tensor = tensor,
                               .rows = sharding.RowsOf(tensor, rank),
                               .offset = offset,
                               .elements = elements});
      offset += elements;
    }
    layout.counts.push_back(offset - begin);
  }
  LS_CHECK_EQ(offset, bucket.elements);
  return layout;
}

}  // namespace lockstep
