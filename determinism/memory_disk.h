// The device behind MemoryFileSystem: what a process sees, what would survive a
// power cut, and the changes between the two. Private to it; holds no lock.

#ifndef DETERMINISM_MEMORY_DISK_H_
#define DETERMINISM_MEMORY_DISK_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lockstep::memory_file_system_internal {

// A file or a folder. Names belong to folders, so a node has none.
struct Node {
  using Entries = std::map<std::string, std::shared_ptr<Node>>;

  bool is_dir = false;
  uint64_t version = 0;  // of the last change; stands for the mtime too
  std::string data, durable_data;
  // Un-synced changes began by dropping durable data.
  bool truncated = false;
  // Sizes after each un-synced append.
  std::vector<size_t> append_ends;
  Entries entries, durable_entries;
};

// A name in a folder; `dir` is never null.
struct Place {
  std::shared_ptr<Node> dir;
  std::string name;
};

class Disk {
 public:
  Disk();

  // Held by callers around everything below and around a node's data.
  std::mutex mutex;

  // Called first by each changing call: the power may be off.
  absl::Status Change(std::string_view call, const std::string& path);

  absl::StatusOr<std::shared_ptr<Node>> Find(const std::string& path) const;
  // The folder that holds the last component; it need not hold the name.
  absl::StatusOr<Place> FindPlace(const std::string& path) const;

  // Visible at once, durable after SyncNames of the folder.
  void Link(const Place& place, std::shared_ptr<Node> node);
  void Unlink(const Place& place);
  void Move(const Place& from, const Place& to);
  void SyncNames(const Node& dir);

  std::shared_ptr<Node> NewNode(bool is_dir);
  void Touch(Node& node) { node.version = ++version_; }
  void Truncate(Node& node);

  void Crash(uint64_t seed);

  // Losses one by one (memory_file_system.h).
  int64_t name_changes() const { return static_cast<int64_t>(pending_.size()); }
  std::vector<int64_t> DataOutcomes(const std::vector<bool>& kept);
  uint64_t CountLosses() const;
  void CrashKeeping(const std::vector<bool>& kept,
                    const std::vector<int64_t>& outcomes);

  uint64_t used_bytes() const;

  uint64_t generation = 0;  // counts crashes
  uint64_t capacity_bytes = std::numeric_limits<int64_t>::max();
  int64_t changing_calls = 0;
  int64_t calls_left = -1;  // negative: no limit

 private:
  // `node` leaves `from` (if that has a folder) and appears at `to` (same).
  struct NameChange {
    Place from, to;
    std::shared_ptr<Node> node;
  };
  static void ApplyDurably(const NameChange& change);
  void ApplyKept(const std::vector<bool>& kept);
  // Files with un-synced data that durable names lead to, by age.
  std::vector<std::shared_ptr<Node>> UnsyncedFiles() const;
  // What is durable becomes all there is.
  void StartAgain();

  std::vector<std::weak_ptr<Node>> nodes_;  // in order of creation
  std::vector<NameChange> pending_;
  uint64_t version_ = 0;
  std::shared_ptr<Node> root_;  // made with the help of those above
};

}  // namespace lockstep::memory_file_system_internal

#endif  // DETERMINISM_MEMORY_DISK_H_
