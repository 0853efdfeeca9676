// The file system under a folder.
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/clock.h"
#include "determinism/fault.h"
#include "determinism/fault_file_system.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/doctor/checks.h"

namespace lockstep {
namespace {

constexpr size_t kProbeBytes = size_t{1} << 20;

// All it asks of the file system is what a checkpoint asks.
class FileProbe {
 public:
  FileProbe(FileSystem& fs, const std::string& folder)
      : fs_(fs), folder_(folder), contents_(kProbeBytes, 'x') {}

  std::vector<std::string> Run() {
    Do("make a folder", fs_.MakeDirs(folder_));
    Replace();
    Exclusive();
    Continue();
    RenameFolder();
    return std::move(faults_);
  }
  double sync_ms() const { return sync_ms_; }

 private:
  std::string At(const std::string& name) const {
    return JoinPath(folder_, name);
  }
  void Do(const std::string& what, const absl::Status& status) {
    if (status.ok()) return;
    faults_.push_back(what + ": " + std::string(status.message()));
  }
  void Expect(const std::string& path, std::string_view contents,
              const std::string& when) {
    const auto read = fs_.ReadFile(path);
    Do("read " + path, read.status());
    if (read.ok() && *read != contents) {
      faults_.push_back(absl::StrCat(path, " has ", read->size(), " bytes ",
                                     when, ", written were ", contents.size()));
    }
  }

  // A file replaced as a whole, twice.
  void Replace() {
    RealClock clock;
    Do("write", WriteFileAtomically(fs_, At("file.json"), "old"));
    const int64_t start = clock.MonotonicNanos();
    Do("replace", WriteFileAtomically(fs_, At("file.json"), contents_));
    sync_ms_ = static_cast<double>(clock.MonotonicNanos() - start) * 1e-6;
    Expect(At("file.json"), contents_, "after it was replaced");
  }
  // Of two that create a name, one succeeds: locks rest on it.
  void Exclusive() {
    Do("create", fs_.CreateNew(At("once")).status());
    if (!absl::IsAlreadyExists(fs_.CreateNew(At("once")).status())) {
      faults_.push_back("a file was created twice as if it were new");
    }
  }
  // A ledger: lines appended, each synced.
  void Continue() {
    for (int i = 0; i < 2; ++i) {
      auto file = fs_.OpenAppend(At("log"));
      Do("append", file.status());
      if (!file.ok()) return;
      Do("append", (*file)->Append("line\n"));
      Do("sync", (*file)->Sync());
      Do("close", (*file)->Close());
    }
    Do("sync the folder", fs_.SyncDir(folder_));
    Expect(At("log"), "line\nline\n", "after two appends");
  }
  // A checkpoint: a folder under a temporary name, renamed.
  void RenameFolder() {
    Do("make a folder", fs_.MakeDirs(At(".tmp-step")));
    Do("write", WriteFileAtomically(fs_, At(".tmp-step/index.json"), "index"));
    Do("rename", fs_.Rename(At(".tmp-step"), At("step")));
    Do("sync the folder", fs_.SyncDir(folder_));
    Expect(At("step/index.json"), "index", "after its folder was renamed");
    if (fs_.Exists(At(".tmp-step"))) {
      faults_.push_back("a renamed folder is still there");
    }
  }

  FileSystem& fs_;
  const std::string folder_;
  const std::string contents_;
  double sync_ms_ = 0;
  std::vector<std::string> faults_;
};

FaultPlan LostWrites(bool broken) {
  std::vector<FaultSpec> specs;
  if (broken) {
    specs.push_back(
        ParseFault("kind=lost_write,at=save.*.write,when=from,occurrence=all")
            .value());
  }
  return FaultPlan(specs, 0);
}

}  // namespace

CheckResult CheckFiles(const Examination& e) {
  CheckResult result;
  FileSystem& disk = *PosixFileSystem();
  FaultPlan plan = LostWrites(e.broken);
  FaultFileSystem fs(&disk, &plan);
  const std::string folder =
      JoinPath(e.folder, absl::StrCat(".lockstep-doctor-", getpid()));
  FileProbe probe(fs, folder);
  result.faults = probe.Run();
  result.injected = e.broken ? 3 : 0;  // files whose contents were lost
  const absl::Status removed = disk.RemoveTree(folder);
  if (!removed.ok()) {
    result.faults.push_back(std::string(removed.message()));
  }
  const auto free_bytes = disk.FreeBytes(e.folder);
  result.summary = absl::StrFormat(
      "%s: replace, create once, append, rename a folder, each synced; 1 MiB "
      "durable after %.1f ms; %.1f GiB free",
      e.folder, probe.sync_ms(),
      static_cast<double>(free_bytes.value_or(0)) / (1 << 30));
  return result;
}

}  // namespace lockstep
