// `lockstep ckpt list|show|verify`: read-only looks at checkpoints.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// A checkpoint's own folder, or the newest complete one of a run's.
absl::StatusOr<std::string> CheckpointAt(FileSystem& fs,
                                         const std::string& path) {
  if (fs.Exists(path + "/" + kIndexFile) ||
      StepOfCheckpointName(path.substr(path.rfind('/') + 1)) >= 0) {
    return path;
  }
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, path));
  if (checkpoints.empty()) {
    return InputError("there is no checkpoint here", path,
                      "name a run's folder or a checkpoint's");
  }
  return checkpoints.back().dir;
}

}  // namespace

absl::StatusOr<Answer> CkptListVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  if (!fs.Exists(options.path)) {
    return InputError("there is nothing here", options.path,
                      "name a run's folder");
  }
  LS_ASSIGN_OR_RETURN(const auto checkpoints,
                      ListCheckpoints(fs, options.path));
  if (options.json) return Answer{ListToJson(checkpoints) + "\n"};
  std::string text;
  for (const ListedCheckpoint& c : checkpoints) {
    absl::StrAppend(
        &text, absl::StrFormat("%-16s %12d bytes  %s\n", c.name, c.size_bytes,
                               c.complete ? "complete" : c.why));
  }
  if (text.empty()) text = "no checkpoint in " + options.path + "\n";
  return Answer{text};
}

absl::StatusOr<Answer> CkptShowVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::string dir, CheckpointAt(fs, options.path));
  if (options.json) {
    LS_ASSIGN_OR_RETURN(const std::string text,
                        fs.ReadFile(dir + "/" + kIndexFile));
    LS_RETURN_IF_ERROR(IndexFromJson(text, dir).status());
    return Answer{text};
  }
  LS_ASSIGN_OR_RETURN(const CheckpointIndex index, ReadIndex(fs, dir));
  return Answer{ShowCheckpoint(index)};
}

absl::StatusOr<Answer> CkptVerifyVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::string dir, CheckpointAt(fs, options.path));
  LS_ASSIGN_OR_RETURN(const VerifyResult result, VerifyCheckpoint(fs, dir));
  if (options.json) {
    return Answer{VerifyResultToJson(result) + "\n", !result.ok};
  }
  std::string text = dir + (result.ok ? ": every byte holds\n" : ": DAMAGED\n");
  for (const Damage& d : result.damage) {
    absl::StrAppend(&text, "  ", d.file, " ", d.tensor, " bytes ", d.from,
                    " to ", d.to, ": ", d.what, "\n");
  }
  return Answer{text, !result.ok};
}

}  // namespace lockstep
