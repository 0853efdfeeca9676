// What hashed_reads.h is to read, two stretches at a time, for several threads.
//
// The largest first, so that nobody is left with one at the end; who asks for
// the smallest begins at the other end: of those most time is waiting.
#ifndef CKPT_READ_PAIRS_H_
#define CKPT_READ_PAIRS_H_

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/hashed_reads.h"

namespace lockstep {

class ReadPairs {
 public:
  struct Pair {
    HashedRead* first = nullptr;   // the longer one; null: no more
    HashedRead* second = nullptr;  // null: there is none
  };

  explicit ReadPairs(std::span<HashedRead> reads) {
    for (HashedRead& read : reads) order_.push_back(&read);
    std::stable_sort(order_.begin(), order_.end(),
                     [](const HashedRead* a, const HashedRead* b) {
                       return a->bytes > b->bytes;
                     });
    end_ = order_.size();
  }

  size_t count() const { return (order_.size() + 1) / 2; }
  // The largest that are left, or the smallest.
  Pair Next(bool smallest) {
    const std::lock_guard lock(mutex_);
    if (failed_ || begin_ == end_) return {};
    if (end_ - begin_ == 1) return {order_[begin_++], nullptr};
    if (smallest) {
      end_ -= 2;
      return {order_[end_], order_[end_ + 1]};
    }
    begin_ += 2;
    return {order_[begin_ - 2], order_[begin_ - 1]};
  }
  // False from then on that one has failed.
  bool Note(HashedRead& read, const absl::Status& status) {
    if (status.ok()) return true;
    const std::lock_guard lock(mutex_);
    read.status = status;
    failed_ = true;
    return false;
  }

 private:
  std::mutex mutex_;                // over what follows
  std::vector<HashedRead*> order_;  // the largest first
  size_t begin_ = 0, end_ = 0;      // what is left of it
  bool failed_ = false;
};

}  // namespace lockstep

#endif  // CKPT_READ_PAIRS_H_
