// Digests of a file's blocks, made while the next blocks are being filled.
//
// What it is: a thread that hashes blocks two at a time (sha256_pair.h), and
// the buffers it hashes them in, which go round: memory is kBuffers blocks
// whatever the file's size. What it is not: a writer. Why so: a token file has
// two or more bytes for each byte of text, and SHA-256 is the slowest thing
// that is done to them; blocks are independent, so it need not be waited for,
// and a new buffer for each would cost a page fault every 4 KiB. The order of
// digests is that of the blocks, and the bytes hashed are those given: threads
// change nothing but the time.

#ifndef DATA_BLOCK_HASHER_H_
#define DATA_BLOCK_HASHER_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "data/block_hash.h"

namespace lockstep {

class BlockHasher {
 public:
  using Buffer = std::unique_ptr<std::string>;

  BlockHasher();
  // Waits for the blocks that are being hashed.
  ~BlockHasher();
  BlockHasher(const BlockHasher&) = delete;
  BlockHasher& operator=(const BlockHasher&) = delete;

  // A buffer of kHashBlockBytes to fill, with whatever it held before. Waits
  // where all others are full.
  Buffer Take();

  // The next block, filled and resized to what is in it.
  void Add(Buffer block);

  // The digests of all blocks, in order; nothing may be added after.
  std::vector<Digest> Finish();

 private:
  // One that is filled, a pair that is hashed, a pair that waits.
  static constexpr size_t kBuffers = 5;

  void Run();
  void HashNext(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;  // anything below
  std::vector<Buffer> free_;
  std::deque<Buffer> full_;
  bool ended_ = false;  // no more blocks
  std::vector<Digest> digests_;
  std::thread thread_;
};

}  // namespace lockstep

#endif  // DATA_BLOCK_HASHER_H_
