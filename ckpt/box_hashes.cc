#include "ckpt/box_hashes.h"

#include "determinism/sha256.h"
#include "determinism/sha256_pair.h"

namespace lockstep {
BoxHashes::BoxHashes(const std::atomic<bool>* given_up) : given_up_(given_up) {
  for (std::thread& thread : threads_) {
    thread = std::thread([this] { Work(); });
  }
}

void BoxHashes::Add(std::span<const std::byte> bytes, std::string* hex) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({bytes, hex});
  changed_.notify_one();
}

void BoxHashes::Finish() {
  {
    const std::lock_guard lock(mutex_);
    all_there_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void BoxHashes::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return all_there_ || !queue_.empty(); });
    if (queue_.empty() || GivenUp()) break;
    const Box box = queue_.front();
    queue_.pop_front();
    const auto [other, alone] = single_.try_emplace(box.bytes.size(), box);
    if (alone) continue;
    const Box mate = other->second;
    single_.erase(other);
    lock.unlock();
    const auto pair =
        Sha256Pair(mate.bytes.data(), box.bytes.data(), box.bytes.size());
    *mate.hex = HexOf(pair[0]);
    *box.hex = HexOf(pair[1]);
    lock.lock();
  }
  while (!single_.empty() && !GivenUp()) {
    const Box box = single_.begin()->second;
    single_.erase(single_.begin());
    lock.unlock();
    Sha256 sha256;
    sha256.Update(box.bytes);
    *box.hex = sha256.Hex();
    lock.lock();
  }
}

}  // namespace lockstep
