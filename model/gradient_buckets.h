// Gradient sums on their way to the owners of the rows, many tensors at a time.
//
// What it is: tensors grouped in the order in which backward ends them, one
// reduce-scatter over the data axis a group, sent off as soon as all of its
// layers are done, while backward goes on. What it is not: a sum over tensor
// ranks, or a decision whether a pass counts (gradient_reduction.h). Why so:
// a group is sent in its place in one fixed order, whatever order layers end
// in, so all ranks send alike; a sum is taken element by element, so neither
// the grouping nor the time shows in a bit (N12). A tensor that fills a group
// by itself is reduced where it lies, smaller ones are packed.
#ifndef LOCKSTEP_MODEL_GRADIENT_BUCKETS_H_
#define LOCKSTEP_MODEL_GRADIENT_BUCKETS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/parameters.h"
#include "parallel/communicator.h"
#include "parallel/state_sharding.h"

namespace lockstep {

struct BucketOptions {
  bool fast_sums = false;  // for rungs below `bitwise`
  int64_t bucket_bytes = kDefaultBucketBytes;
};

class GradientBuckets {
 public:
  // Of the store's parameters at `tensors`, ascending. Nothing is owned.
  GradientBuckets(ParameterStore& store, Communicator& data,
                  const std::vector<int64_t>& tensors,
                  const BucketOptions& options);

  // None is under way, none of the layers is done.
  void Begin();
  // All leaves of the layer (ParameterSpec::layer) are in its sums: sends what
  // has become ready.
  void LayerDone(int64_t layer);
  // Sends all that is not sent.
  void SendRest();
  bool sent() const { return next_ > 0; }
  // Until the owned rows of everything that was sent are those of all ranks.
  absl::Status Wait();

 private:
  struct Bucket {
    GradientBucket plan = {};
    BucketLayout layout = {};
    std::set<int64_t> layers = {};  // not done yet
    std::string purpose = {};
    std::vector<std::byte> packed = {};  // of several tensors
    Communicator::Pending pending = nullptr;
  };

  std::byte* SumOf(int64_t tensor) const;
  std::set<int64_t> LayersOf(const Bucket& bucket) const;
  void Send(Bucket& bucket);
  void Pack(Bucket& bucket) const;
  void Unpack(const Bucket& bucket) const;

  ParameterStore& store_;
  Communicator& data_;
  const BucketOptions options_;
  const size_t width_;  // bytes of an element
  std::vector<Bucket> buckets_;
  size_t next_ = 0;  // to be sent
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_BUCKETS_H_
