#include "ckpt/run_lock.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

#include "ckpt/bounded_read.h"
#include "ckpt/last_generation.h"
#include "ckpt/sealed_json.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int64_t kMostGenerations = int64_t{1} << 53;  // exact in any JSON

struct Acquisition {
  int64_t generation = 0;  // 0: none yet
  int64_t pid = 0;
  std::string host;
  int64_t time_ms = 0;
};

struct LockFile {
  Acquisition last;
  bool torn = false;  // a line that is not whole, from a crash
  bool ends_in_newline = true;
};

bool ParseAcquisition(std::string_view line, Acquisition& out) {
  const OrderedJson json = OrderedJson::parse(line, nullptr, false);
  JsonFields fields(json, "line");
  Acquisition parsed;
  fields.Get("generation", parsed.generation);
  fields.Get("pid", parsed.pid);
  fields.Get("host", parsed.host);
  fields.Get("time_ms", parsed.time_ms);
  if (!fields.ok()) return false;
  out = parsed;
  return true;
}

LockFile ParseLockFile(std::string_view text) {
  LockFile file;
  file.ends_in_newline = text.empty() || text.back() == '\n';
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    Acquisition parsed;
    if (whole && ParseAcquisition(line, parsed)) {
      if (parsed.generation >= file.last.generation) file.last = parsed;
    } else if (!line.empty()) {
      file.torn = true;
    }
    text.remove_prefix(whole ? end + 1 : text.size());
  }
  return file;
}

// 2026-01-31T12:34:56Z.
std::string IsoTime(int64_t unix_ms) {
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  struct tm utc = {};
  char text[64] = {};
  if (gmtime_r(&seconds, &utc) == nullptr ||
      strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
    return std::to_string(unix_ms) + " ms of Unix time";
  }
  return text;
}

std::string Describe(const Acquisition& holder) {
  return "process " + std::to_string(holder.pid) + " on " + holder.host +
         " (generation " + std::to_string(holder.generation) + ", since " +
         IsoTime(holder.time_ms) + ")";
}

absl::Status AppendAcquisition(FileSystem& file_system, const std::string& path,
                               const Acquisition& acquisition,
                               bool begin_with_newline) {
  const OrderedJson json = {{"generation", acquisition.generation},
                            {"pid", acquisition.pid},
                            {"host", acquisition.host},
                            {"time_ms", acquisition.time_ms}};
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      file_system.OpenAppend(path));
  LS_RETURN_IF_ERROR(file->Append((begin_with_newline ? "\n" : "") +
                                  CompactJson(json) + "\n"));
  LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

// No trainer comes to such a number by counting.
absl::Status CheckCanBeFollowed(int64_t generation, const std::string& where) {
  if (generation < kMostGenerations) return absl::OkStatus();
  return InputError("the generation " + std::to_string(generation) +
                        " was written by no trainer: none comes so far by "
                        "counting, and the next number must be above it",
                    where,
                    "take what has that number away; the next one is then "
                    "taken from lock, launches and ledger");
}

absl::Status CreateIfAbsent(FileSystem& file_system, const std::string& path) {
  if (file_system.Exists(path)) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<WritableFile>> file =
      file_system.CreateNew(path);
  if (absl::IsAlreadyExists(file.status())) return absl::OkStatus();
  LS_RETURN_IF_ERROR(file.status());
  LS_RETURN_IF_ERROR((*file)->Close());
  return file_system.SyncDir(DirName(path));
}

}  // namespace

LockOwner ThisProcess() {
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  return {getpid(), host};
}

RunLock::RunLock(FileSystem& file_system, std::string path, int64_t generation,
                 std::unique_ptr<HeldFile> held)
    : file_system_(file_system),
      path_(std::move(path)),
      generation_(generation),
      held_(std::move(held)) {}

absl::StatusOr<std::unique_ptr<RunLock>> RunLock::Acquire(
    FileSystem& file_system, FileLocker& locker, const std::string& run_dir,
    const LockOwner& owner, Clock& clock) {
  const std::string path = JoinPath(run_dir, "lock");
  LS_RETURN_IF_ERROR(CreateIfAbsent(file_system, path));
  LS_ASSIGN_OR_RETURN(std::unique_ptr<HeldFile> held, locker.TryLock(path));
  LS_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(file_system, path));
  const LockFile file = ParseLockFile(text);
  if (held == nullptr) {
    return InputError("another trainer has this run: " + Describe(file.last),
                      path,
                      "wait for it or stop it; or give --run another folder");
  }
  // A torn line may have been meant for the next number: do not use it again.
  // Nor one that a launch had under a lock file that somebody deleted.
  LS_ASSIGN_OR_RETURN(const int64_t seen,
                      LastGenerationSeen(file_system, run_dir));
  LS_RETURN_IF_ERROR(CheckCanBeFollowed(file.last.generation, path));
  LS_RETURN_IF_ERROR(CheckCanBeFollowed(seen, JoinPath(run_dir, "launches")));
  const int64_t generation =
      std::max(file.last.generation + (file.torn ? 2 : 1), seen + 1);
  const Acquisition mine = {generation, owner.pid, owner.host,
                            clock.UnixMillis()};
  LS_RETURN_IF_ERROR(
      AppendAcquisition(file_system, path, mine, !file.ends_in_newline));
  return std::unique_ptr<RunLock>(
      new RunLock(file_system, path, mine.generation, std::move(held)));
}

absl::Status RunLock::CheckStillHolder() const {
  LS_ASSIGN_OR_RETURN(const std::string text,
                      ReadSmallFile(file_system_, path_));
  const Acquisition last = ParseLockFile(text).last;
  if (last.generation == generation_) return absl::OkStatus();
  return InputError("this trainer (generation " + std::to_string(generation_) +
                        ") has lost the run to " + Describe(last),
                    path_, "stop this one; what it has not committed is lost");
}

}  // namespace lockstep
