#include "determinism/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "determinism/memory_disk.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using memory_file_system_internal::Disk;
using memory_file_system_internal::Node;
using memory_file_system_internal::Place;
using Lock = std::lock_guard<std::mutex>;

absl::Status Failure(const std::string& call, const std::string& path,
                     int error) {
  return IoError(call, path, "check the path", error);
}

// What an open file keeps; fails once the disk has crashed.
struct Handle {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<Node> node;
  std::string path;
  uint64_t generation;

  absl::Status CheckPower() const {
    if (disk->generation == generation) return absl::OkStatus();
    return Failure("use of a file opened before a crash", path, EBADF);
  }
};

class MemoryWritableFile : public WritableFile {
 public:
  explicit MemoryWritableFile(Handle handle) : handle_(std::move(handle)) {}

  absl::Status Append(std::string_view data) override {
    const Lock lock(handle_.disk->mutex);
    LS_RETURN_IF_ERROR(handle_.CheckPower());
    LS_RETURN_IF_ERROR(handle_.disk->Change("write", handle_.path));
    Disk& disk = *handle_.disk;
    const uint64_t used = disk.used_bytes();
    const uint64_t left =
        disk.capacity_bytes > used ? disk.capacity_bytes - used : 0;
    handle_.node->data.append(data.substr(0, left));
    disk.Touch(*handle_.node);
    if (data.size() <= left) return absl::OkStatus();
    return IoError("write", handle_.path,
                   "free space: " + std::to_string(data.size() - left) +
                       " bytes were still to be written",
                   ENOSPC);
  }

  absl::Status Flush() override { return absl::OkStatus(); }

  absl::Status Sync() override {
    const Lock lock(handle_.disk->mutex);
    LS_RETURN_IF_ERROR(handle_.CheckPower());
    LS_RETURN_IF_ERROR(handle_.disk->Change("fsync", handle_.path));
    handle_.node->durable_data = handle_.node->data;
    handle_.node->truncated = false;
    return absl::OkStatus();
  }

  absl::Status Close() override {
    const Lock lock(handle_.disk->mutex);
    return handle_.CheckPower();
  }

 private:
  const Handle handle_;
};

class MemoryRandomAccessFile : public RandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(Handle handle)
      : handle_(std::move(handle)), size_(handle_.node->data.size()) {}

  absl::Status ReadAt(uint64_t offset, size_t length,
                      void* out) const override {
    const Lock lock(handle_.disk->mutex);
    LS_RETURN_IF_ERROR(handle_.CheckPower());
    const std::string& data = handle_.node->data;
    if (offset > data.size() || length > data.size() - offset) {
      return absl::DataLossError("the file ends early\n  where: " +
                                 handle_.path + "\n  do: write it anew");
    }
    if (length > 0) std::memcpy(out, data.data() + offset, length);
    return absl::OkStatus();
  }
  uint64_t Size() const override { return size_; }

 private:
  const Handle handle_;
  const uint64_t size_;
};

// A copy as of the open, where a real mapping would change under the reader.
class MemoryMappedFile : public MappedFile {
 public:
  explicit MemoryMappedFile(Handle handle)
      : handle_(std::move(handle)),
        data_(handle_.node->data),
        version_(handle_.node->version) {}

  std::span<const std::byte> bytes() const override {
    return std::as_bytes(std::span<const char>(data_));
  }
  absl::Status CheckUnchanged() const override {
    const Lock lock(handle_.disk->mutex);
    LS_ASSIGN_OR_RETURN(const std::shared_ptr<Node> now,
                        handle_.disk->Find(handle_.path));
    if (now == handle_.node && now->version == version_) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        "the file changed while it was in use\n  where: " + handle_.path +
        "\n  do: start anew");
  }

 private:
  const Handle handle_;
  const std::string data_;
  const uint64_t version_;
};

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
    node->truncated = true;
    node->data.clear();
    disk->Touch(*node);
  }
  return std::make_unique<MemoryWritableFile>(
      Handle{disk, std::move(node), path, disk->generation});
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
  return std::make_unique<MemoryRandomAccessFile>(std::move(handle));
}

absl::StatusOr<std::unique_ptr<MappedFile>> MemoryFileSystem::Map(
    const std::string& path) {
  const Lock lock(disk_->mutex);
  LS_ASSIGN_OR_RETURN(Handle handle, OpenForReading(disk_, path));
  return std::make_unique<MemoryMappedFile>(std::move(handle));
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
