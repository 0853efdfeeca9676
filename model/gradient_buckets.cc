#include "model/gradient_buckets.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

size_t WidthOf(GradientMode mode) {
  return mode == GradientMode::kGrid ? sizeof(int64_t) : sizeof(float);
}

// Groups of `tensors`, by their places in the store.
std::vector<GradientBucket> Plan(const ParameterStore& store,
                                 const std::vector<int64_t>& tensors,
                                 int64_t bucket_elements) {
  std::vector<ShardedTensor> shapes;
  for (const int64_t tensor : tensors) {
    const Parameter& p = store.all()[static_cast<size_t>(tensor)];
    shapes.push_back({p.shape[0], p.row_elements()});
  }
  std::vector<GradientBucket> plan = PlanBuckets(shapes, bucket_elements);
  for (GradientBucket& bucket : plan) {
    for (int64_t& tensor : bucket.tensors) {
      tensor = tensors[static_cast<size_t>(tensor)];
    }
  }
  return plan;
}

}  // namespace

GradientBuckets::GradientBuckets(ParameterStore& store, Communicator& data,
                                 const std::vector<int64_t>& tensors,
                                 const BucketOptions& options)
    : store_(store),
      data_(data),
      options_(options),
      width_(WidthOf(store.mode())) {
  const int64_t elements =
      std::max<int64_t>(options.bucket_bytes / static_cast<int64_t>(width_), 1);
  const auto plan = Plan(store, tensors, elements);
  for (const GradientBucket& bucket : plan) {
    const auto first = static_cast<size_t>(bucket.tensors.front());
    const std::string more =
        bucket.tensors.size() == 1
            ? ""
            : " and " + std::to_string(bucket.tensors.size() - 1) + " more";
    buckets_.push_back({.plan = bucket,
                        .layout = LayOutBucket(store.sharding(), bucket),
                        .purpose = "gradient bucket " +
                                   std::to_string(buckets_.size() + 1) +
                                   " of " + std::to_string(plan.size()) + ", " +
                                   store.all()[first].spec.name + more});
  }
}

std::set<int64_t> GradientBuckets::LayersOf(const Bucket& bucket) const {
  std::set<int64_t> layers;
  for (const int64_t tensor : bucket.plan.tensors) {
    layers.insert(store_.all()[static_cast<size_t>(tensor)].spec.layer);
  }
  return layers;
}

void GradientBuckets::Begin() {
  for (Bucket& bucket : buckets_) {
    LS_CHECK(bucket.pending == nullptr) << bucket.purpose << " is under way";
    bucket.layers = LayersOf(bucket);
  }
  next_ = 0;
}

void GradientBuckets::LayerDone(int64_t layer) {
  for (Bucket& bucket : buckets_) bucket.layers.erase(layer);
  while (next_ < buckets_.size() && buckets_[next_].layers.empty()) {
    Send(buckets_[next_++]);
  }
}

void GradientBuckets::SendRest() {
  while (next_ < buckets_.size()) Send(buckets_[next_++]);
}

absl::Status GradientBuckets::Wait() {
  const ScopedFloatEnv float_env;
  for (Bucket& bucket : buckets_) {
    if (bucket.pending == nullptr) continue;
    LS_RETURN_IF_ERROR(bucket.pending->Wait());
    bucket.pending = nullptr;
    Unpack(bucket);
    bucket.packed = {};
  }
  return absl::OkStatus();
}

std::byte* GradientBuckets::SumOf(int64_t tensor) const {
  const GradientSum& sum = store_.all()[static_cast<size_t>(tensor)].gradient;
  return sum.mode == GradientMode::kGrid
             ? reinterpret_cast<std::byte*>(sum.grid)
             : reinterpret_cast<std::byte*>(sum.sum);
}

// A call into a transport may leave the float environment changed (N2).
void GradientBuckets::Send(Bucket& bucket) {
  const ScopedFloatEnv float_env;
  Reduction reduction = Reduction::kSumInt64;
  if (store_.mode() == GradientMode::kLeafFp32) {
    reduction = options_.fast_sums ? Reduction::kFastSumFloat
                                   : Reduction::kOrderedSumFloat;
  }
  Pack(bucket);
  std::byte* data = bucket.packed.empty() ? SumOf(bucket.plan.tensors.front())
                                          : bucket.packed.data();
  std::vector<int64_t> parts = bucket.layout.counts;
  for (int64_t& part : parts) part *= static_cast<int64_t>(width_);
  bucket.pending = data_.Start(
      {.kind = CollectiveKind::kReduceScatter,
       .reduction = reduction,
       .data = {data, static_cast<size_t>(bucket.plan.elements) * width_},
       .part_bytes = std::move(parts),
       .purpose = bucket.purpose});
  bucket.pending->MoveInBackground();
}

void GradientBuckets::Pack(Bucket& bucket) const {
  if (bucket.plan.tensors.size() == 1) return;
  bucket.packed.resize(static_cast<size_t>(bucket.plan.elements) * width_);
  for (const BucketPiece& piece : bucket.layout.pieces) {
    const int64_t row =
        store_.all()[static_cast<size_t>(piece.tensor)].row_elements();
    std::memcpy(
        bucket.packed.data() + static_cast<size_t>(piece.offset) * width_,
        SumOf(piece.tensor) +
            static_cast<size_t>(piece.rows.begin * row) * width_,
        static_cast<size_t>(piece.elements) * width_);
  }
}

void GradientBuckets::Unpack(const Bucket& bucket) const {
  if (bucket.packed.empty()) return;
  for (const BucketPiece& piece : bucket.layout.pieces) {
    if (piece.rank != data_.rank()) continue;
    const int64_t row =
        store_.all()[static_cast<size_t>(piece.tensor)].row_elements();
    std::memcpy(
        SumOf(piece.tensor) +
            static_cast<size_t>(piece.rows.begin * row) * width_,
        bucket.packed.data() + static_cast<size_t>(piece.offset) * width_,
        static_cast<size_t>(piece.elements) * width_);
  }
}

}  // namespace lockstep
