#include "determinism/memory_file.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "determinism/status.h"

namespace lockstep::memory_file_system_internal {
namespace {

using Lock = std::lock_guard<std::mutex>;

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
    handle_.node->append_ends.push_back(handle_.node->data.size());
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
    handle_.node->append_ends.clear();
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
      : handle_(std::move(handle)),
        size_(handle_.node->data.size()),
        version_(handle_.node->version) {}

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
  absl::Status CheckUnchanged() const override {
    const Lock lock(handle_.disk->mutex);
    LS_RETURN_IF_ERROR(handle_.CheckPower());
    if (handle_.node->version == version_) return absl::OkStatus();
    return absl::DataLossError(
        "the file changed while it was in use\n  where: " + handle_.path +
        "\n  do: start anew");
  }

 private:
  const Handle handle_;
  const uint64_t size_;
  const uint64_t version_;
};

}  // namespace

absl::Status Handle::CheckPower() const {
  if (disk->generation == generation) return absl::OkStatus();
  return IoError("use of a file opened before a crash", path, "open it again",
                 EBADF);
}

std::unique_ptr<WritableFile> MakeWritable(Handle handle) {
  return std::make_unique<MemoryWritableFile>(std::move(handle));
}

std::unique_ptr<RandomAccessFile> MakeRandomAccess(Handle handle) {
  return std::make_unique<MemoryRandomAccessFile>(std::move(handle));
}

}  // namespace lockstep::memory_file_system_internal
