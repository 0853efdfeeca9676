#include "determinism/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "determinism/memory_disk.h"
#include "determinism/memory_file.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using memory_file_system_internal::Disk;
using memory_file_system_internal::Handle;
using memory_file_system_internal::MakeRandomAccess;
using memory_file_system_internal::MakeWritable;
using memory_file_system_internal::Node;
using memory_file_system_internal::Place;
using Lock = std::lock_guard<std::mutex>;

absl::Status Failure(const std::string& call, const std::string& path,
                     int error) {
  return IoError(call, path, "check the path", error);
}

enum class OpenMode { kTruncate, kNew, kAppend };

absl::StatusOr<std::unique_ptr<WritableFile>> Open(
    const std::shared_ptr<Disk>& disk, const std::string& path, OpenMode mode) {
  const Lock lock(disk->mutex);
  LS_ASSIGN_OR_RETURN(const Place place, disk->FindPlace(path));
  LS_RETURN_IF_ERROR(disk->Change("open", path));
  const auto found = place.dir->entries.find(place.name);
  std::shared_ptr<Node> node =
      found == place.dir->entries.end() ? nullptr : found->second;
  if (node == nullptr) {
    node = disk->NewNode(/*is_dir=*/false);
    disk->Link(place, node);
  } else if (mode == OpenMode::kNew) {
    return absl::AlreadyExistsError("create: File exists\n  where: " + path +
                                    "\n  do: remove it if nobody uses it");
  } else if (node->is_dir) {
    return Failure("open", path, EISDIR);
  } else if (mode == OpenMode::kTruncate && !node->data.empty()) {
    disk->Truncate(*node);
  }
  return MakeWritable(Handle{disk, std::move(node), path, disk->generation});
}

absl::StatusOr<Handle> OpenForReading(const std::shared_ptr<Disk>& disk,
                                      const std::string& path) {
  LS_ASSIGN_OR_RETURN(std::shared_ptr<Node> node, disk->Find(path));
  if (node->is_dir) return Failure("open", path, EISDIR);
  return Handle{disk, std::move(node), path, disk->generation};
}

// Whether `node` is `below` or holds it.
bool Holds(const Node& node, const Node& below) {
  if (&node == &below) return true;
  for (const auto& [name, child] : node.entries) {
    if (Holds(*child, below)) return true;
  }
  return false;
}

// The errno for a rename of one node over another, or 0.
int CheckReplace(const Node& moved, const Node* replaced) {
  if (replaced == nullptr) return 0;
  if (moved.is_dir && !replaced->is_dir) return ENOTDIR;
  if (!moved.is_dir && replaced->is_dir) return EISDIR;
  return replaced->entries.empty() ? 0 : ENOTEMPTY;
}

absl::Status RemoveBelow(Disk& disk, const Place& place,
                         const std::string& path) {
  const std::shared_ptr<Node> node = place.dir->entries.at(place.name);
  const Node::Entries entries = node->entries;
  for (const auto& [name, child] : entries) {
    LS_RETURN_IF_ERROR(
        RemoveBelow(disk, Place{node, name}, JoinPath(path, name)));
  }
  LS_RETURN_IF_ERROR(disk.Change("remove", path));
  disk.Unlink(place);
  return absl::OkStatus();
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : disk_(std::make_shared<Disk>()) {}
MemoryFileSystem::~MemoryFileSystem() = default;

void MemoryFileSystem::FailAfter(int64_t calls) {
  const Lock lock(disk_->mutex);
  disk_->calls_left = calls;
}

int64_t MemoryFileSystem::changing_calls() const {
  const Lock lock(disk_->mutex);
  return disk_->changing_calls;
}

void MemoryFileSystem::SetCapacity(uint64_t bytes) {
  const Lock lock(disk_->mutex);
  disk_->capacity_bytes = bytes;
}

void MemoryFileSystem::Crash(uint64_t seed) {
  const Lock lock(disk_->mutex);
  disk_->Crash(seed);
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFileSystem::Create(
    const std::string& path) {
  return Open(disk_, path, OpenMode::kTruncate);
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFileSystem::CreateNew(
    const std::string& path) {
  return Open(disk_, path, OpenMode::kNew);
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFileSystem::OpenAppend(
    const std::string& path) {
  return Open(disk_, path, OpenMode::kAppend);
}

absl::StatusOr<std::string> MemoryFileSystem::ReadFile(
    const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const Handle handle, OpenForReading(disk_, path));
  return handle.node->data;
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> MemoryFileSystem::OpenRead(
    const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(Handle handle, OpenForReading(disk_, path));
  return MakeRandomAccess(std::move(handle));
}

absl::Status MemoryFileSystem::Rename(const std::string& from,
                                      const std::string& to) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> moved, disk_->Find(from));
  LS_ASSIGN_OR_RETURN(const Place from_place, disk_->FindPlace(from));
  LS_ASSIGN_OR_RETURN(const Place to_place, disk_->FindPlace(to));
  LS_RETURN_IF_ERROR(disk_->Change("rename", to));
  if (Holds(*moved, *to_place.dir)) return Failure("rename", to, EINVAL);
  const auto found = to_place.dir->entries.find(to_place.name);
  const Node* replaced =
      found == to_place.dir->entries.end() ? nullptr : found->second.get();
  if (replaced == moved.get()) return absl::OkStatus();
  if (const int error = CheckReplace(*moved, replaced); error != 0) {
    return Failure("rename", to, error);
  }
  disk_->Move(from_place, to_place);
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::SyncDir(const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> dir, disk_->Find(path));
  LS_RETURN_IF_ERROR(disk_->Change("fsync of the folder", path));
  if (!dir->is_dir) return Failure("fsync of the folder", path, ENOTDIR);
  disk_->SyncNames(*dir);
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::MakeDirs(const std::string& path) {
  const Lock lock(disk_->mutex);
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    const auto found = disk_->Find(prefix);
    if (found.ok() && !(*found)->is_dir) {
      return Failure("mkdir", prefix, ENOTDIR);
    }
    if (!found.ok()) {
      LS_ASSIGN_OR_RETURN(const Place place, disk_->FindPlace(prefix));
      LS_RETURN_IF_ERROR(disk_->Change("mkdir", prefix));
      disk_->Link(place, disk_->NewNode(/*is_dir=*/true));
    }
    if (end == std::string::npos) return absl::OkStatus();
  }
}

absl::Status MemoryFileSystem::Remove(const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> node, disk_->Find(path));
  LS_ASSIGN_OR_RETURN(const Place place, disk_->FindPlace(path));
  LS_RETURN_IF_ERROR(disk_->Change("remove", path));
  if (!node->entries.empty()) return Failure("remove", path, ENOTEMPTY);
  disk_->Unlink(place);
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::RemoveTree(const std::string& path) {
  const Lock lock(disk_->mutex);
  if (!disk_->Find(path).ok()) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const Place place, disk_->FindPlace(path));
  return RemoveBelow(*disk_, place, path);
}

absl::StatusOr<std::vector<std::string>> MemoryFileSystem::List(
    const std::string& dir) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> node, disk_->Find(dir));
  if (!node->is_dir) return Failure("list", dir, ENOTDIR);
  std::vector<std::string> names;
  for (const auto& [name, child] : node->entries) names.push_back(name);
  return names;
}

bool MemoryFileSystem::Exists(const std::string& path) {
  const Lock lock(disk_->mutex);
  return disk_->Find(path).ok();
}

absl::StatusOr<FileInfo> MemoryFileSystem::Stat(const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> node, disk_->Find(path));
  return FileInfo{.size = node->data.size(),
                  .is_dir = node->is_dir,
                  .is_link = false,
                  .mtime_ns = static_cast<int64_t>(node->version)};
}

absl::StatusOr<uint64_t> MemoryFileSystem::FreeBytes(const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_RETURN_IF_ERROR(disk_->Find(path).status());
  const uint64_t used = disk_->used_bytes();
  return disk_->capacity_bytes > used ? disk_->capacity_bytes - used : 0;
}

}  // namespace lockstep
