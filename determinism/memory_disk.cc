#include "determinism/memory_disk.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "determinism/status.h"

namespace lockstep::memory_file_system_internal {
namespace {

constexpr size_t kBlockBytes = 512;
constexpr uint64_t kLoseAll = 0, kKeepAll = 1;  // the two extreme seeds

// splitmix64 (Steele, Lea, Flood 2014): enough for choosing what survives.
class Chooser {
 public:
  explicit Chooser(uint64_t seed) : seed_(seed), state_(seed) {}

  // Uniform in [0, n]; the extreme seeds give 0 and n.
  uint64_t UpTo(uint64_t n) {
    if (seed_ == kLoseAll) return 0;
    if (seed_ == kKeepAll) return n;
    return Next() % (n + 1);
  }
  bool Keep() { return UpTo(1) == 1; }
  bool LoseBlock() { return seed_ != kKeepAll && Next() % 4 == 0; }

 private:
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  const uint64_t seed_;
  uint64_t state_;
};

std::string Surviving(const Node& node, Chooser& chooser) {
  if (node.truncated && !chooser.Keep()) return node.durable_data;
  const size_t base = node.truncated ? 0 : node.durable_data.size();
  std::string data =
      node.data.substr(0, base + chooser.UpTo(node.data.size() - base));
  for (size_t at = base; at < data.size(); at += kBlockBytes) {
    if (!chooser.LoseBlock()) continue;
    const size_t count = std::min(kBlockBytes, data.size() - at);
    data.replace(at, count, count, '\0');
  }
  return data;
}

std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

uint64_t BytesBelow(const Node& node) {
  uint64_t bytes = node.data.size();
  for (const auto& [name, child] : node.entries) bytes += BytesBelow(*child);
  return bytes;
}

absl::Status NotThere(const std::string& path) {
  return absl::NotFoundError("no such file\n  where: " + path +
                             "\n  do: check the path");
}

}  // namespace

Disk::Disk() : root_(NewNode(/*is_dir=*/true)) {}

absl::Status Disk::Change(std::string_view call, const std::string& path) {
  if (calls_left == 0) {
    return IoError(std::string(call) + " without power", path,
                   "crash and restart", EIO);
  }
  if (calls_left > 0) --calls_left;
  ++changing_calls;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Node>> Disk::Find(
    const std::string& path) const {
  std::shared_ptr<Node> node = root_;
  for (const std::string& part : Components(path)) {
    const auto found = node->entries.find(part);
    if (found == node->entries.end()) return NotThere(path);
    node = found->second;
  }
  return node;
}

absl::StatusOr<Place> Disk::FindPlace(const std::string& path) const {
  std::vector<std::string> parts = Components(path);
  if (parts.empty()) return IoError("not a name", path, "name a file", EINVAL);
  std::string name = std::move(parts.back());
  parts.pop_back();
  std::shared_ptr<Node> dir = root_;
  for (const std::string& part : parts) {
    const auto found = dir->entries.find(part);
    if (found == dir->entries.end()) return NotThere(path);
    dir = found->second;
  }
  if (!dir->is_dir) return IoError("open", path, "check the path", ENOTDIR);
  return Place{std::move(dir), std::move(name)};
}

void Disk::Link(const Place& place, std::shared_ptr<Node> node) {
  place.dir->entries[place.name] = node;
  pending_.push_back({{}, place, std::move(node)});
}

void Disk::Unlink(const Place& place) {
  const auto found = place.dir->entries.find(place.name);
  pending_.push_back({place, {}, found->second});
  place.dir->entries.erase(found);
}

void Disk::Move(const Place& from, const Place& to) {
  const auto found = from.dir->entries.find(from.name);
  std::shared_ptr<Node> node = found->second;
  from.dir->entries.erase(found);
  to.dir->entries[to.name] = node;
  pending_.push_back({from, to, std::move(node)});
}

void Disk::ApplyDurably(const NameChange& change) {
  if (change.from.dir != nullptr) {
    // The name may stand for another node, if earlier changes were lost.
    Node::Entries& entries = change.from.dir->durable_entries;
    const auto found = entries.find(change.from.name);
    if (found != entries.end() && found->second == change.node) {
      entries.erase(found);
    }
  }
  if (change.to.dir != nullptr) {
    change.to.dir->durable_entries[change.to.name] = change.node;
  }
}

void Disk::SyncNames(const Node& dir) {
  std::vector<NameChange> others;
  for (NameChange& change : pending_) {
    if (change.from.dir.get() == &dir || change.to.dir.get() == &dir) {
      ApplyDurably(change);
    } else {
      others.push_back(std::move(change));
    }
  }
  pending_ = std::move(others);
}

std::shared_ptr<Node> Disk::NewNode(bool is_dir) {
  auto node = std::make_shared<Node>();
  node->is_dir = is_dir;
  Touch(*node);
  nodes_.push_back(node);
  return node;
}

void Disk::Crash(uint64_t seed) {
  Chooser chooser(seed);
  for (const std::weak_ptr<Node>& weak : nodes_) {
    const std::shared_ptr<Node> node = weak.lock();
    if (node == nullptr || node->is_dir) continue;
    node->durable_data = Surviving(*node, chooser);
  }
  for (const NameChange& change : pending_) {
    if (chooser.Keep()) ApplyDurably(change);
  }
  StartAgain();
}

void Disk::StartAgain() {
  pending_.clear();
  for (const std::weak_ptr<Node>& weak : nodes_) {
    const std::shared_ptr<Node> node = weak.lock();
    if (node == nullptr) continue;
    node->data = node->durable_data;
    node->truncated = false;
    node->append_ends.clear();
    node->entries = node->durable_entries;
    Touch(*node);
  }
  std::erase_if(nodes_, [](const auto& weak) { return weak.expired(); });
  calls_left = -1;
  ++generation;
}

uint64_t Disk::used_bytes() const { return BytesBelow(*root_); }

}  // namespace lockstep::memory_file_system_internal
