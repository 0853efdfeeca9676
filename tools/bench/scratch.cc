#include "tools/bench/scratch.h"

#include <stdlib.h>

#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr char kName[] = "lockstep-bench-";

// Of programs that were killed. Folders of others, or those that somebody is
// about to lock, have no such file; what cannot be removed is somebody else's.
void RemoveLeavings(const std::string& parent) {
  FileSystem& fs = *PosixFileSystem();
  const auto names = fs.List(parent);
  if (!names.ok()) return;  // then none can be made either, which is said
  for (const std::string& name : *names) {
    const std::string folder = parent + "/" + name;
    if (!name.starts_with(kName) || !fs.Exists(folder + "/alive")) continue;
    const auto lock = PosixFileLocker()->TryLock(folder + "/alive");
    if (lock.ok() && *lock != nullptr) fs.RemoveTree(folder).IgnoreError();
  }
}

// Locked before it has its name.
absl::StatusOr<std::unique_ptr<HeldFile>> HoldAlive(const std::string& folder) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const auto file, fs.Create(folder + "/alive.new"));
  LS_RETURN_IF_ERROR(file->Close());
  LS_ASSIGN_OR_RETURN(auto held,
                      PosixFileLocker()->TryLock(folder + "/alive.new"));
  LS_RETURN_IF_ERROR(fs.Rename(folder + "/alive.new", folder + "/alive"));
  return held;
}

}  // namespace

absl::StatusOr<Scratch> Scratch::Make(const std::string& parent) {
  const char* system = getenv("TMPDIR");
  const std::string in = !parent.empty()     ? parent
                         : system != nullptr ? system
                                             : "/tmp";
  RemoveLeavings(in);
  std::string name = in + "/" + kName + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return InputError("cannot make a folder to measure in", name,
                      "name one that can be written with --scratch");
  }
  auto alive = HoldAlive(name);
  if (!alive.ok()) {
    PosixFileSystem()->RemoveTree(name).IgnoreError();
    return alive.status();
  }
  return Scratch(name, *std::move(alive));
}

Scratch::~Scratch() {
  if (!dir_.empty()) PosixFileSystem()->RemoveTree(dir_).IgnoreError();
}

absl::Status WriteBenchText(FileSystem& fs, const std::string& path,
                            uint64_t bytes) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.Create(path));
  uint64_t state = 1;
  std::string block;
  for (uint64_t written = 0; written < bytes; written += block.size()) {
    block.clear();
    while (block.size() < kMiB) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      for (int shift = 60; shift > 0; shift -= 5) {
        block += "etaoinshrdlucmfwypvbgkjqxz  .,\n\n"[(state >> shift) & 31];
      }
    }
    block.resize(kMiB);
    LS_RETURN_IF_ERROR(file->Append(block));
  }
  LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

std::vector<std::string> BenchTextSets(const std::string& path) {
  return {"data.source.0.text=" + path, "data.source.0.document_bytes=4096"};
}

}  // namespace lockstep
