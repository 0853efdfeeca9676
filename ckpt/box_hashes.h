// SHA-256 of many blocks of memory, on a thread beside whoever reads or writes
// them. Inside ckpt only.
//
// Hashing takes a core about as long as a quick device takes for the bytes.
// Blocks of one length are hashed two at a time, in little more than the time
// of one (determinism/sha256_pair.h); state comes in such pairs, since moments
// are as long as their tensors.

#ifndef CKPT_BOX_HASHES_H_
#define CKPT_BOX_HASHES_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

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
  void Hash(const Box& box);

  const std::atomic<bool>* const given_up_;
  std::mutex mutex_;  // over the two below
  std::condition_variable changed_;
  std::vector<Box> queue_;
  bool all_there_ = false;
  std::map<size_t, Box> single_;  // of the thread, by length
  std::thread thread_;
};

}  // namespace lockstep

#endif  // CKPT_BOX_HASHES_H_
