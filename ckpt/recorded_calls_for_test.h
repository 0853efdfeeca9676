// The changing calls of a save, written down, so that a test can make any part
// of them again on a new disk, in any order that the ranks could have had.

#ifndef CKPT_RECORDED_CALLS_FOR_TEST_H_
#define CKPT_RECORDED_CALLS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "determinism/file_system.h"

namespace lockstep {

struct RecordedCall {
  enum Kind { kMakeDirs, kCreate, kAppend, kSync, kRename, kSyncDir, kRemove };
  Kind kind;
  std::string path;
  std::string text = {};  // what is appended, or the new name
};

// Passes everything on to `base` and keeps what changed something. Files are
// made by CreateNew alone, as a save does. Thread-safe.
class RecordingFileSystem : public FileSystem {
 public:
  explicit RecordingFileSystem(FileSystem* base) : base_(base) {}

  std::vector<RecordedCall> TakeCalls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) override {
    return absl::UnimplementedError(path);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNew(
      const std::string& path) override {
    auto file = base_->CreateNew(path);
    if (!file.ok()) return file;
    Keep({RecordedCall::kCreate, path});
    return std::make_unique<File>(*this, path, *std::move(file));
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(
      const std::string& path) override {
    return absl::UnimplementedError(path);
  }
  absl::StatusOr<std::string> ReadFile(const std::string& path) override {
    return base_->ReadFile(path);
  }
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
      const std::string& path) override {
    return base_->OpenRead(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return Kept(base_->Rename(from, to), {RecordedCall::kRename, from, to});
  }
  absl::Status SyncDir(const std::string& path) override {
    return Kept(base_->SyncDir(path), {RecordedCall::kSyncDir, path});
  }
  absl::Status MakeDirs(const std::string& path) override {
    if (base_->Exists(path)) return absl::OkStatus();
    EXPECT_TRUE(base_->Exists(DirName(path))) << "one call makes one folder";
    return Kept(base_->MakeDirs(path), {RecordedCall::kMakeDirs, path});
  }
  absl::Status Remove(const std::string& path) override {
    return Kept(base_->Remove(path), {RecordedCall::kRemove, path});
  }
  // Name by name: a power cut may come between two.
  absl::Status RemoveTree(const std::string& path) override {
    if (!base_->Exists(path)) return absl::OkStatus();
    if (const auto info = base_->Stat(path); info.ok() && info->is_dir) {
      const auto names = base_->List(path);
      if (!names.ok()) return names.status();
      for (const std::string& name : *names) {
        const absl::Status removed = RemoveTree(JoinPath(path, name));
        if (!removed.ok()) return removed;
      }
    }
    return Remove(path);
  }
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override {
    return base_->List(dir);
  }
  bool Exists(const std::string& path) override { return base_->Exists(path); }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    return base_->Stat(path);
  }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override {
    return base_->FreeBytes(path);
  }

 private:
  class File : public WritableFile {
   public:
    File(RecordingFileSystem& owner, std::string path,
         std::unique_ptr<WritableFile> base)
        : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}
    absl::Status Append(std::string_view data) override {
      return owner_.Kept(base_->Append(data),
                         {RecordedCall::kAppend, path_, std::string(data)});
    }
    absl::Status Flush() override { return base_->Flush(); }
    absl::Status Sync() override {
      return owner_.Kept(base_->Sync(), {RecordedCall::kSync, path_});
    }
    absl::Status Close() override { return base_->Close(); }

   private:
    RecordingFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<WritableFile> base_;
  };

  void Keep(RecordedCall call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  absl::Status Kept(const absl::Status& done, RecordedCall call) {
    if (done.ok()) Keep(std::move(call));
    return done;
  }

  FileSystem* const base_;
  std::mutex mutex_;
  std::vector<RecordedCall> calls_;
};

// Makes recorded calls on another file system.
class CallPlayer {
 public:
  explicit CallPlayer(FileSystem& fs) : fs_(fs) {}

  void Play(const RecordedCall& call) {
    const absl::Status done = Make(call);
    ASSERT_TRUE(done.ok()) << done;
  }

 private:
  absl::Status Make(const RecordedCall& call) {
    switch (call.kind) {
      case RecordedCall::kMakeDirs:
        return fs_.MakeDirs(call.path);
      case RecordedCall::kCreate: {
        auto file = fs_.CreateNew(call.path);
        if (!file.ok()) return file.status();
        files_[call.path] = *std::move(file);
        return absl::OkStatus();
      }
      case RecordedCall::kAppend:
        return files_.at(call.path)->Append(call.text);
      case RecordedCall::kSync:
        return files_.at(call.path)->Sync();
      case RecordedCall::kRename:
        return fs_.Rename(call.path, call.text);
      case RecordedCall::kSyncDir:
        return fs_.SyncDir(call.path);
      case RecordedCall::kRemove:
        return fs_.Remove(call.path);
    }
    return absl::InternalError("no such call");
  }

  FileSystem& fs_;
  std::map<std::string, std::unique_ptr<WritableFile>> files_;
};

}  // namespace lockstep

#endif  // CKPT_RECORDED_CALLS_FOR_TEST_H_
