#include "ckpt/box_hashes.h"

#include <cstdint>
#include <utility>

#include "determinism/sha256.h"
#include "determinism/sha256_pair.h"

namespace lockstep {
namespace {

std::string HexOf(const Sha256Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace

BoxHashes::BoxHashes(const std::atomic<bool>* given_up)
    : given_up_(given_up), thread_([this] { Work(); }) {}

void BoxHashes::Add(std::span<const std::byte> bytes, std::string* hex) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({bytes, hex});
  changed_.notify_one();
}

void BoxHashes::Finish() {
  {
    const std::lock_guard lock(mutex_);
    all_there_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void BoxHashes::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return all_there_ || !queue_.empty(); });
    const std::vector<Box> boxes = std::exchange(queue_, {});
    const bool last = all_there_;
    lock.unlock();
    for (const Box& box : boxes) Hash(box);
    if (last) break;  // nothing is added after that
    lock.lock();
  }
  for (const auto& [length, box] : single_) {
    Sha256 sha256;
    sha256.Update(box.bytes);
    *box.hex = sha256.Hex();
  }
}

void BoxHashes::Hash(const Box& box) {
  if (given_up_ != nullptr && given_up_->load()) return;
  const auto [other, alone] = single_.try_emplace(box.bytes.size(), box);
  if (alone) return;
  const auto pair = Sha256Pair(other->second.bytes.data(), box.bytes.data(),
                               box.bytes.size());
  *other->second.hex = HexOf(pair[0]);
  *box.hex = HexOf(pair[1]);
  single_.erase(other);
}

}  // namespace lockstep
