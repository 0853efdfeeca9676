// Which boxes of the state have come from files already, for whoever looks at
// them while others are still read. Inside ckpt only.
//
// What it is: a count for each box of the reads that fill it. What it is not: a
// promise about the bytes: whether their hashes hold is known at the end, and
// what was made of bytes that do not is thrown away. Why so: fingerprints of
// what was loaded take a tenth of a load, and its threads wait for the device.

#ifndef CKPT_ARRIVALS_H_
#define CKPT_ARRIVALS_H_

#include <condition_variable>
#include <map>
#include <mutex>

namespace lockstep {

class Arrivals {
 public:
  // One more read fills the box at `data`. All are expected before anybody
  // waits.
  void Expect(const void* data) {
    const std::lock_guard lock(mutex_);
    ++missing_[data];
  }
  // One of them has.
  void Arrived(const void* data) {
    const std::lock_guard lock(mutex_);
    if (--missing_[data] == 0) changed_.notify_all();
  }
  // No more will.
  void GiveUp() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }
  // Until all of the box is there; at once where nothing was expected. False:
  // it will not be.
  bool Await(const void* data) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_up_ || IsThere(data); });
    return IsThere(data);
  }

 private:
  bool IsThere(const void* data) const {
    const auto box = missing_.find(data);
    return box == missing_.end() || box->second == 0;
  }

  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::map<const void*, int> missing_;
  bool given_up_ = false;
};

}  // namespace lockstep

#endif  // CKPT_ARRIVALS_H_
