// Digests of a file's blocks, made while the next block is being filled.
//
// A token file has two or more bytes for each byte of text, and SHA-256 is the
// slowest thing that is done to them; blocks are independent, so it need not
// be waited for. The order of digests is that of the blocks, and the bytes
// hashed are those given: threads change nothing but the time.

#ifndef DATA_BLOCK_HASHER_H_
#define DATA_BLOCK_HASHER_H_

#include <deque>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/block_hash.h"

namespace lockstep {

class BlockHasher {
 public:
  // Waits where kAhead blocks are not hashed yet, so that memory is bounded.
  void Add(std::shared_ptr<const std::string> block) {
    if (pending_.size() == kAhead) {
      TakeOldest();
    }
    pending_.push_back(
        std::async(std::launch::async, [block = std::move(block)] {
          return DigestOf(block->data(), block->size());
        }));
  }

  // The digests of all blocks.
  std::vector<Digest> Finish() {
    while (!pending_.empty()) {
      TakeOldest();
    }
    return std::move(digests_);
  }

 private:
  static constexpr size_t kAhead = 2;

  void TakeOldest() {
    digests_.push_back(pending_.front().get());
    pending_.pop_front();
  }

  std::deque<std::future<Digest>> pending_;
  std::vector<Digest> digests_;
};

}  // namespace lockstep

#endif  // DATA_BLOCK_HASHER_H_
