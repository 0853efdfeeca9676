#include "determinism/fault_file_system.h"

#include <cerrno>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

std::string PointOf(std::string_view direction, std::string_view noun,
                    std::string_view call) {
  return std::string(direction).append(".").append(noun).append(".").append(
      call);
}

// OK for kNone alone.
absl::Status StatusOf(FileFault fault, const std::string& path,
                      std::string_view call) {
  const std::string what = std::string(call) + " (a fault on purpose)";
  switch (fault) {
    case FileFault::kNone:
      return absl::OkStatus();
    case FileFault::kEnospc:
      return IoError(what, path, "drop --fault", ENOSPC);
    case FileFault::kEio:
    case FileFault::kShort:
      return IoError(what, path, "drop --fault", EIO);
    case FileFault::kLost:
      break;
  }
  return InputError("this call writes no data that could be lost", path,
                    "give lost_write a point that ends in .write or .sync");
}

class FaultWritableFile : public WritableFile {
 public:
  FaultWritableFile(std::unique_ptr<WritableFile> base, FaultPlan* plan,
                    std::string noun, std::string path)
      : base_(std::move(base)),
        plan_(plan),
        noun_(std::move(noun)),
        path_(std::move(path)) {}

  absl::Status Append(std::string_view data) override {
    LS_ASSIGN_OR_RETURN(const FileFault fault, Ask("write"));
    if (fault == FileFault::kLost) return absl::OkStatus();
    if (fault == FileFault::kShort) {
      LS_RETURN_IF_ERROR(base_->Append(data.substr(0, data.size() / 2)));
    }
    LS_RETURN_IF_ERROR(StatusOf(fault, path_, "write"));
    return base_->Append(data);
  }
  absl::Status Flush() override {
    LS_RETURN_IF_ERROR(Pass("flush"));
    return base_->Flush();
  }
  absl::Status Sync() override {
    LS_ASSIGN_OR_RETURN(const FileFault fault, Ask("sync"));
    if (fault == FileFault::kLost) return absl::OkStatus();
    LS_RETURN_IF_ERROR(StatusOf(fault, path_, "sync"));
    return base_->Sync();
  }
  absl::Status Close() override {
    LS_RETURN_IF_ERROR(Pass("close"));
    return base_->Close();
  }

 private:
  absl::StatusOr<FileFault> Ask(std::string_view call) {
    return plan_->AtFileCall(PointOf("save", noun_, call));
  }
  absl::Status Pass(std::string_view call) {
    LS_ASSIGN_OR_RETURN(const FileFault fault, Ask(call));
    return StatusOf(fault, path_, call);
  }

  const std::unique_ptr<WritableFile> base_;
  FaultPlan* const plan_;
  const std::string noun_;
  const std::string path_;
};

class FaultRandomAccessFile : public RandomAccessFile {
 public:
  FaultRandomAccessFile(std::unique_ptr<RandomAccessFile> base, FaultPlan* plan,
                        std::string noun, std::string path)
      : base_(std::move(base)),
        plan_(plan),
        noun_(std::move(noun)),
        path_(std::move(path)) {}

  absl::Status ReadAt(uint64_t offset, size_t length,
                      void* out) const override {
    LS_ASSIGN_OR_RETURN(const FileFault fault,
                        plan_->AtFileCall(PointOf("load", noun_, "read")));
    LS_RETURN_IF_ERROR(StatusOf(fault, path_, "read"));
    return base_->ReadAt(offset, length, out);
  }
  uint64_t Size() const override { return base_->Size(); }
  absl::Status CheckUnchanged() const override {
    return base_->CheckUnchanged();
  }

 private:
  const std::unique_ptr<RandomAccessFile> base_;
  FaultPlan* const plan_;
  const std::string noun_;
  const std::string path_;
};

}  // namespace

std::string RunFolderNoun(std::string_view path) {
  std::string name = BaseName(path);
  if (name.ends_with(".tmp")) name.resize(name.size() - 4);
  if (name.starts_with(".tmp-")) name.erase(0, 5);
  if (name.ends_with(".safetensors")) return "shard";
  if (name.ends_with("index.json")) return "index";
  if (name.find("manifest") != std::string::npos) return "manifest";
  if (name.ends_with(".trace")) return "trace";
  if (name.ends_with(".bin") || name.ends_with(".idx")) return "tokens";
  if (name.starts_with("step_")) return "step";
  if (const size_t at = name.find("-step_");
      name.starts_with('.') && at != std::string::npos) {
    const std::string side = name.substr(1, at - 1);
    return side == "tmp" ? "step" : side + "_step";
  }
  return name.substr(0, name.find('.', 1));
}

FaultFileSystem::FaultFileSystem(FileSystem* base, FaultPlan* plan,
                                 NounOf noun_of)
    : base_(base), plan_(plan), noun_of_(std::move(noun_of)) {}

absl::Status FaultFileSystem::Pass(std::string_view direction,
                                   const std::string& path,
                                   std::string_view call) {
  LS_ASSIGN_OR_RETURN(
      const FileFault fault,
      plan_->AtFileCall(PointOf(direction, noun_of_(path), call)));
  return StatusOf(fault, path, call);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultFileSystem::Wrap(
    absl::StatusOr<std::unique_ptr<WritableFile>> file,
    const std::string& path) {
  LS_RETURN_IF_ERROR(file.status());
  return std::make_unique<FaultWritableFile>(*std::move(file), plan_,
                                             noun_of_(path), path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultFileSystem::Create(
    const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "create"));
  return Wrap(base_->Create(path), path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultFileSystem::CreateNew(
    const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "create"));
  return Wrap(base_->CreateNew(path), path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultFileSystem::OpenAppend(
    const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "create"));
  return Wrap(base_->OpenAppend(path), path);
}

absl::StatusOr<std::string> FaultFileSystem::ReadFile(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("load", path, "open"));
  LS_RETURN_IF_ERROR(Pass("load", path, "read"));
  return base_->ReadFile(path);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FaultFileSystem::OpenRead(
    const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("load", path, "open"));
  LS_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                      base_->OpenRead(path));
  return std::make_unique<FaultRandomAccessFile>(std::move(file), plan_,
                                                 noun_of_(path), path);
}

absl::Status FaultFileSystem::Rename(const std::string& from,
                                     const std::string& to) {
  LS_RETURN_IF_ERROR(Pass("save", to, "rename"));
  return base_->Rename(from, to);
}

absl::Status FaultFileSystem::SyncDir(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "sync_dir"));
  return base_->SyncDir(path);
}

absl::Status FaultFileSystem::MakeDirs(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "mkdir"));
  return base_->MakeDirs(path);
}

absl::Status FaultFileSystem::Remove(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "remove"));
  return base_->Remove(path);
}

absl::Status FaultFileSystem::RemoveTree(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("save", path, "remove"));
  return base_->RemoveTree(path);
}

absl::StatusOr<std::vector<std::string>> FaultFileSystem::List(
    const std::string& dir) {
  LS_RETURN_IF_ERROR(Pass("load", dir, "list"));
  return base_->List(dir);
}

bool FaultFileSystem::Exists(const std::string& path) {
  return base_->Exists(path);
}

absl::StatusOr<FileInfo> FaultFileSystem::Stat(const std::string& path) {
  LS_RETURN_IF_ERROR(Pass("load", path, "stat"));
  return base_->Stat(path);
}

absl::StatusOr<uint64_t> FaultFileSystem::FreeBytes(const std::string& path) {
  return base_->FreeBytes(path);
}

}  // namespace lockstep
