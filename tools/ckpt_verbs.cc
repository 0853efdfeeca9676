// `lockstep ckpt list|show|verify|diff`: read-only looks at checkpoints.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/diff.h"
#include "ckpt/manifest.h"
#include "ckpt/verify.h"
#include "ckpt/verify_content.h"
#include "ckpt/verify_run.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/checkpoint_at.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// "12.3 MB", decimal as disks are sold.
std::string SizeText(uint64_t bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1000 && unit < 5; ++unit) size /= 1000;
  return unit == 0 ? absl::StrCat(bytes, " B")
                   : absl::StrFormat("%.1f %s", size, units[unit]);
}

// "3 min": since `then_ms`.
std::string AgeText(int64_t then_ms) {
  RealClock clock;
  const int64_t s = std::max<int64_t>(clock.UnixMillis() - then_ms, 0) / 1000;
  if (s < 120) return absl::StrCat(s, " s");
  if (s < 120 * 60) return absl::StrCat(s / 60, " min");
  if (s < 48 * 3600) return absl::StrCat(s / 3600, " h");
  return absl::StrCat(s / 86400, " d");
}

// Of the run that saved it; "?" where that cannot be read.
std::string LayoutOf(FileSystem& fs, const std::string& dir) {
  const auto manifest = ReadManifest(fs, dir);
  if (!manifest.ok()) return "?";
  const Manifest::Layout& l = manifest->layout;
  return absl::StrCat("d", l.data, " t", l.tensor, " p", l.pipeline);
}

absl::Status CheckExists(FileSystem& fs, const std::string& path) {
  return fs.Exists(path) ? absl::OkStatus()
                         : InputError("there is nothing here", path,
                                      "name a run's folder or a checkpoint's");
}

// A run's folder, whether it has a checkpoint or not.
absl::Status CheckMayHaveList(FileSystem& fs, const std::string& path) {
  LS_RETURN_IF_ERROR(CheckExists(fs, path));
  const std::string what = "name the run's folder, in which `checkpoints` lies";
  if (NamesCheckpoint(fs, path)) {
    return InputError("this is a checkpoint, not a run's folder", path, what);
  }
  const auto info = fs.Stat(path);
  return info.ok() && info->is_dir
             ? absl::OkStatus()
             : InputError("this is no folder", path, what);
}

// A folder with what a run keeps beside its checkpoints.
bool NamesRun(FileSystem& fs, const std::string& path) {
  return fs.Exists(JoinPath(path, kManifestFile)) ||
         fs.Exists(JoinPath(path, "ledger.jsonl"));
}

// Reads all bytes of those that seem complete. What a trainer's retention takes
// meanwhile is no list's.
absl::Status VerifyAll(FileSystem& fs, std::vector<ListedCheckpoint>& listed) {
  for (ListedCheckpoint& c : listed) {
    if (!c.complete) continue;
    LS_ASSIGN_OR_RETURN(const VerifyResult result, VerifyCheckpoint(fs, c.dir));
    c.complete = result.ok;
    if (!result.ok) c.why = result.Summary();
  }
  std::erase_if(listed, [&](const ListedCheckpoint& c) {
    return !c.complete && !fs.Exists(c.dir);
  });
  return absl::OkStatus();
}

std::string DamageText(const std::vector<Damage>& damage) {
  std::string text;
  for (const Damage& d : damage) {
    absl::StrAppend(&text, "  ", d.file, d.tensor.empty() ? "" : " ", d.tensor,
                    " bytes ", d.from, " to ", d.to, ": ", d.what, "\n");
  }
  return text;
}

absl::StatusOr<Answer> VerifyWholeRun(FileSystem& fs,
                                      const CkptOptions& options) {
  LS_ASSIGN_OR_RETURN(const RunVerifyResult result,
                      VerifyRun(fs, options.path));
  if (options.json) {
    return Answer{RunVerifyResultToJson(result) + "\n", !result.ok};
  }
  return Answer{
      absl::StrCat(options.path, result.ok ? ": every byte holds of " : ": ",
                   result.ok ? "" : "DAMAGED, of ", result.steps.size(),
                   " checkpoint(s), ", result.manifests, " manifest(s) and ",
                   result.ledger_lines, " lines of the ledger\n",
                   DamageText(result.damage)),
      !result.ok};
}

}  // namespace

absl::StatusOr<Answer> CkptListVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_RETURN_IF_ERROR(CheckMayHaveList(fs, options.path));
  LS_ASSIGN_OR_RETURN(auto listed, ListCheckpoints(fs, options.path));
  if (options.verify) LS_RETURN_IF_ERROR(VerifyAll(fs, listed));
  const bool unusable =
      std::any_of(listed.begin(), listed.end(),
                  [](const ListedCheckpoint& c) { return !c.complete; });
  const bool negative = options.verify && unusable;
  if (options.json) return Answer{ListToJson(listed) + "\n", negative};
  if (listed.empty()) {
    return Answer{"no checkpoint in " + options.path + "\n"};
  }
  std::string text = absl::StrFormat("%-16s %8s %10s  %-12s %6s  %s\n", "name",
                                     "age", "size", "layout", "shards",
                                     options.verify ? "every byte" : "state");
  for (const ListedCheckpoint& c : listed) {
    const char* const good = options.verify ? "holds" : "complete";
    absl::StrAppend(
        &text,
        absl::StrFormat("%-16s %8s %10s  %-12s %6d  %s%s\n", c.name,
                        c.saved_ms == 0 ? "?" : AgeText(c.saved_ms),
                        SizeText(c.size_bytes), LayoutOf(fs, c.dir), c.shards,
                        c.complete ? good : "UNUSABLE: " + c.why,
                        c.pinned ? ", pinned" : ""));
  }
  return Answer{text, negative};
}

absl::StatusOr<Answer> CkptShowVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::string dir, CheckpointAt(fs, options.path));
  if (options.json) {
    LS_ASSIGN_OR_RETURN(const std::string text,
                        fs.ReadFile(JoinPath(dir, kIndexFile)));
    LS_RETURN_IF_ERROR(IndexFromJson(text, dir).status());
    return Answer{text};
  }
  LS_ASSIGN_OR_RETURN(const CheckpointIndex index, ReadIndex(fs, dir));
  uint64_t bytes = 0;
  for (const auto& [name, file] : index.files) bytes += file.size_bytes;
  return Answer{absl::StrCat("folder      ", dir, "\nlayout      ",
                             LayoutOf(fs, dir), ", ", index.files.size() - 1,
                             " shard(s), ", SizeText(bytes),
                             "\nbytes       as the index has them, not read; "
                             "`lockstep ckpt verify` reads them\n",
                             ShowCheckpoint(index))};
}

absl::StatusOr<Answer> CkptVerifyVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_RETURN_IF_ERROR(CheckExists(fs, options.path));
  if (!NamesCheckpoint(fs, options.path)) {
    // Not a folder without anything to verify.
    LS_RETURN_IF_ERROR(NamesRun(fs, options.path)
                           ? absl::OkStatus()
                           : CheckpointAt(fs, options.path).status());
    return VerifyWholeRun(fs, options);
  }
  LS_ASSIGN_OR_RETURN(const VerifyResult result,
                      VerifyContent(fs, options.path));
  if (options.json) {
    return Answer{VerifyResultToJson(result) + "\n", !result.ok};
  }
  return Answer{absl::StrCat(options.path,
                             result.ok ? ": every byte holds\n" : ": DAMAGED\n",
                             DamageText(result.damage)),
                !result.ok};
}

absl::StatusOr<Answer> CkptDiffVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::string a, CheckpointAt(fs, options.path));
  LS_ASSIGN_OR_RETURN(const std::string b, CheckpointAt(fs, options.other));
  LS_ASSIGN_OR_RETURN(const CheckpointDiff diff,
                      DiffCheckpoints(fs, a, b, options.quick));
  return Answer{options.json ? DiffToJson(diff) + "\n" : DiffToText(diff),
                !diff.differences.empty()};
}

}  // namespace lockstep
