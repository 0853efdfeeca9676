// Which data-parallel rank owns which rows of a tensor's optimizer state
// (ZeRO-1; Rajbhandari et al., 2020), and which tensors travel together.
//
// What it is: for each tensor one contiguous box of rows a rank, ascending in
// rank. So a reduce-scatter or an all-gather over the tensor in place has
// exactly those boxes as its parts, and a checkpoint's shard is a box. What it
// is not: a flat cut through all tensors, which would split rows and make every
// reshard a puzzle. Why so, the balance: a tensor's rows do not divide evenly;
// the spare ones go to the ranks that own least so far, so that over the whole
// list any two ranks differ by at most the largest row.

#ifndef PARALLEL_STATE_SHARDING_H_
#define PARALLEL_STATE_SHARDING_H_

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// A tensor as rows that are never split; a vector is rows of 1 element.
struct ShardedTensor {
  int64_t rows = 0;
  int64_t row_elements = 0;
};

// Rows [begin, end); may be empty.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t rows() const { return end - begin; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

class StateSharding {
 public:
  // `ranks` >= 1. The order of `tensors` decides who gets spare rows.
  StateSharding(std::span<const ShardedTensor> tensors, int ranks);

  int ranks() const { return ranks_; }
  int64_t tensors() const { return static_cast<int64_t>(tensors_.size()); }

  RowRange RowsOf(int64_t tensor, int rank) const;
  // The rank whose box holds `row`.
  int OwnerOf(int64_t tensor, int64_t row) const;
  // Elements of each rank's box, in rank order: the parts of a collective over
  // that tensor.
  std::vector<int64_t> CountsOf(int64_t tensor) const;
  int64_t ElementsOf(int rank) const;

 private:
  int ranks_;
  std::vector<ShardedTensor> tensors_;
  std::vector<int64_t> begins_;  // [tensor][rank + 1]
};

// 4 MiB: below that a packed copy costs less than a message of its own, and the
// matrices of a model worth sharing out are above it.
constexpr int64_t kDefaultBucketBytes = int64_t{4} << 20;

// Tensors whose gradients are reduced by one collective, the last of the list
// first, as backward makes them. Packed by rank, then by the order of
// `tensors`: a rank's part is contiguous.
struct GradientBucket {
  std::vector<int64_t> tensors = {};
  int64_t elements = 0;
};

// Groups in backward order that are closed once they have `bucket_elements` (>=
// 1) or more. No tensor is split; one that has as many by itself is alone, so
// that it can be reduced where it lies.
std::vector<GradientBucket> PlanBuckets(std::span<const ShardedTensor> tensors,
                                        int64_t bucket_elements);

// One box of a packed bucket.
struct BucketPiece {
  int rank = 0;
  int64_t tensor = 0;
  RowRange rows = {};
  int64_t offset = 0;    // elements from the bucket's start
  int64_t elements = 0;  // never 0
};

struct BucketLayout {
  std::vector<BucketPiece> pieces = {};  // ascending in offset, without gaps
  std::vector<int64_t> counts = {};      // elements of each rank's part
};

BucketLayout LayOutBucket(const StateSharding& sharding,
                          const GradientBucket& bucket);

}  // namespace lockstep

#endif  // PARALLEL_STATE_SHARDING_H_
