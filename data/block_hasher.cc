#include "data/block_hasher.h"

#include <utility>

#include "determinism/check.h"
#include "determinism/sha256_pair.h"

namespace lockstep {

BlockHasher::BlockHasher() {
  for (size_t i = 0; i < kBuffers; ++i) {
    free_.push_back(std::make_unique<std::string>());
  }
  thread_ = std::thread([this] { Run(); });
}

BlockHasher::~BlockHasher() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

BlockHasher::Buffer BlockHasher::Take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !free_.empty(); });
  Buffer buffer = std::move(free_.back());
  free_.pop_back();
  lock.unlock();
  buffer->resize(kHashBlockBytes);
  return buffer;
}

void BlockHasher::Add(Buffer block) {
  {
    const std::scoped_lock lock(mutex_);
    LS_CHECK(!ended_);
    full_.push_back(std::move(block));
  }
  changed_.notify_all();
}

std::vector<Digest> BlockHasher::Finish() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
  return std::move(digests_);
}

void BlockHasher::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ended_ || full_.size() >= 2; });
    if (full_.empty()) return;
    HashNext(lock);
  }
}

// Two blocks of one size, or one; the lock is not held meanwhile.
void BlockHasher::HashNext(std::unique_lock<std::mutex>& lock) {
  std::vector<Buffer> blocks;
  do {
    blocks.push_back(std::move(full_.front()));
    full_.pop_front();
  } while (blocks.size() < 2 && !full_.empty() &&
           full_.front()->size() == blocks[0]->size());
  lock.unlock();
  std::vector<Digest> digests = {};
  if (blocks.size() == 2) {
    for (const Digest& digest :
         Sha256Pair(blocks[0]->data(), blocks[1]->data(), blocks[0]->size())) {
      digests.push_back(digest);
    }
  } else {
    digests.push_back(DigestOf(blocks[0]->data(), blocks[0]->size()));
  }
  lock.lock();
  digests_.insert(digests_.end(), digests.begin(), digests.end());
  for (Buffer& block : blocks) free_.push_back(std::move(block));
  changed_.notify_all();
}

}  // namespace lockstep
