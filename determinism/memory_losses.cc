// The losses of a power cut one by one.

#include <mutex>
#include <set>
#include <utility>

#include "determinism/check.h"
#include "determinism/memory_disk.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace memory_file_system_internal {
namespace {

bool HasUnsyncedData(const Node& node) {
  return !node.is_dir && (node.truncated || !node.append_ends.empty());
}

size_t SyncedBytes(const Node& node) {
  return node.truncated ? 0 : node.durable_data.size();
}

// The appends as [begin, end), without those of nothing.
std::vector<std::pair<size_t, size_t>> Appends(const Node& node) {
  std::vector<std::pair<size_t, size_t>> appends;
  size_t begin = SyncedBytes(node);
  for (const size_t end : node.append_ends) {
    if (end > begin) appends.emplace_back(begin, end);
    begin = end;
  }
  return appends;
}

// In the order of memory_file_system.h; of a file of which all survives, the
// last but those with a hole.
std::vector<std::string> DataOutcomesOf(const Node& node) {
  std::vector<std::string> outcomes;
  if (node.truncated) outcomes.push_back(node.durable_data);
  outcomes.push_back(node.data.substr(0, SyncedBytes(node)));
  const auto appends = Appends(node);
  const auto with_zeros = [&](size_t length, size_t begin, size_t end) {
    std::string data = node.data.substr(0, length);
    data.replace(begin, end - begin, end - begin, '\0');
    return data;
  };
  for (const auto& [begin, end] : appends) {
    if (end - begin > 1) {
      outcomes.push_back(node.data.substr(0, begin + (end - begin) / 2));
    }
    outcomes.push_back(with_zeros(end, begin, end));
    outcomes.push_back(node.data.substr(0, end));
  }
  for (size_t i = 0; i + 1 < appends.size(); ++i) {
    outcomes.push_back(
        with_zeros(node.data.size(), appends[i].first, appends[i].second));
  }
  return outcomes;
}

void AddFilesBelow(const Node& node, std::set<const Node*>& files) {
  if (!node.is_dir) files.insert(&node);
  for (const auto& [name, child] : node.durable_entries) {
    AddFilesBelow(*child, files);
  }
}

}  // namespace

void Disk::Truncate(Node& node) {
  node.truncated = true;
  node.append_ends.clear();
  node.data.clear();
  Touch(node);
}

void Disk::ApplyKept(const std::vector<bool>& kept) {
  LS_CHECK_EQ(kept.size(), pending_.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) ApplyDurably(pending_[i]);
  }
}

std::vector<std::shared_ptr<Node>> Disk::UnsyncedFiles() const {
  std::set<const Node*> named;
  AddFilesBelow(*root_, named);
  std::vector<std::shared_ptr<Node>> files;
  for (const std::weak_ptr<Node>& weak : nodes_) {
    std::shared_ptr<Node> node = weak.lock();
    if (node == nullptr || !HasUnsyncedData(*node)) continue;
    if (named.contains(node.get())) files.push_back(std::move(node));
  }
  return files;
}

std::vector<int64_t> Disk::DataOutcomes(const std::vector<bool>& kept) {
  std::vector<std::pair<std::shared_ptr<Node>, Node::Entries>> before;
  for (const std::weak_ptr<Node>& weak : nodes_) {
    if (auto node = weak.lock())
      before.emplace_back(node, node->durable_entries);
  }
  ApplyKept(kept);
  std::vector<int64_t> outcomes;
  for (const std::shared_ptr<Node>& file : UnsyncedFiles()) {
    outcomes.push_back(static_cast<int64_t>(DataOutcomesOf(*file).size()));
  }
  for (auto& [node, entries] : before) {
    node->durable_entries = std::move(entries);
  }
  return outcomes;
}

uint64_t Disk::CountLosses() const {
  uint64_t losses = 1;
  for (size_t i = 0; i < pending_.size(); ++i) losses *= 2;
  for (const std::weak_ptr<Node>& weak : nodes_) {
    const std::shared_ptr<Node> node = weak.lock();
    if (node == nullptr || !HasUnsyncedData(*node)) continue;
    losses *= DataOutcomesOf(*node).size();
  }
  return losses;
}

void Disk::CrashKeeping(const std::vector<bool>& kept,
                        const std::vector<int64_t>& outcomes) {
  ApplyKept(kept);
  const std::vector<std::shared_ptr<Node>> files = UnsyncedFiles();
  LS_CHECK_EQ(files.size(), outcomes.size());
  for (size_t i = 0; i < files.size(); ++i) {
    files[i]->durable_data =
        DataOutcomesOf(*files[i]).at(static_cast<size_t>(outcomes[i]));
  }
  StartAgain();
}

}  // namespace memory_file_system_internal

int64_t MemoryFileSystem::name_changes() const {
  const std::lock_guard lock(disk_->mutex);
  return disk_->name_changes();
}

std::vector<int64_t> MemoryFileSystem::DataOutcomes(
    const std::vector<bool>& kept) const {
  const std::lock_guard lock(disk_->mutex);
  return disk_->DataOutcomes(kept);
}

uint64_t MemoryFileSystem::CountLosses() const {
  const std::lock_guard lock(disk_->mutex);
  return disk_->CountLosses();
}

void MemoryFileSystem::CrashKeeping(const std::vector<bool>& kept,
                                    const std::vector<int64_t>& outcomes) {
  const std::lock_guard lock(disk_->mutex);
  disk_->CrashKeeping(kept, outcomes);
}

}  // namespace lockstep
