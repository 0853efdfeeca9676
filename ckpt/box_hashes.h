// SHA-256 of many blocks of memory, on two threads beside whoever reads or
// writes them. Inside ckpt only.
//
// A quick device takes or gives more bytes a second than one core can hash.
// Blocks of one length are hashed two at a time, in little more than the time
// of one (determinism/sha256_pair.h); state comes in such pairs, since moments
// are as long as their tensors.

#ifndef CKPT_BOX_HASHES_H_
#define CKPT_BOX_HASHES_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>

namespace lockstep {

class BoxHashes {
 public:
  // `given_up` (null: never) ends it early; then hashes are missing.
  explicit BoxHashes(const std::atomic<bool>* given_up = nullptr);
  ~BoxHashes() { Finish(); }
  BoxHashes(const BoxHashes&) = delete;
  BoxHashes& operator=(const BoxHashes&) = delete;

  // Both stay where and what they are until Finish, which fills `hex`.
  void Add(std::span<const std::byte> bytes, std::string* hex);
  // Waits for all. Nothing is added afterwards.
  void Finish();

 private:
  struct Box {
    std::span<const std::byte> bytes;
    std::string* hex;
  };

  void Work();
  bool GivenUp() const { return given_up_ != nullptr && given_up_->load(); }

  const std::atomic<bool>* const given_up_;
  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::deque<Box> queue_;
  bool all_there_ = false;
  std::map<size_t, Box> single_;  // waiting for another, by length
  std::array<std::thread, 2> threads_;
};

}  // namespace lockstep

#endif  // CKPT_BOX_HASHES_H_
