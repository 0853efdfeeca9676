#include "ckpt/disk_space.h"

#include <cerrno>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/folder_names.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

uint64_t BytesBelow(FileSystem& file_system, const std::string& path) {
  const auto info = file_system.Stat(path);
  if (!info.ok() || info->is_link) return 0;
  if (!info->is_dir) return info->size;
  uint64_t bytes = 0;
  const auto names = file_system.List(path);
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    bytes += BytesBelow(file_system, JoinPath(path, (*names)[i]));
  }
  return bytes;
}

class Advice {
 public:
  Advice(FileSystem& file_system, const std::string& run_dir)
      : file_system_(file_system), run_dir_(run_dir) {
    Look();
  }

  std::string Text() const {
    std::string text = "free space outside of the run";
    if (!needless_.empty()) {
      absl::StrAppend(&text, ", or delete in it what no resume needs: ",
                      absl::StrJoin(needless_, ", "));
    }
    if (newest_.empty()) return text;
    absl::StrAppend(&text, "; leave ", newest_,
                    ", its newest complete checkpoint: a save needs room "
                    "beside it");
    if (older_.empty()) return text;
    return absl::StrCat(
        text, "; once `lockstep ckpt verify` says that it ",
        "holds, older ones may go (a lower checkpoint.keep ",
        "takes them after the next save): ", absl::StrJoin(older_, ", "));
  }

 private:
  std::string Sized(const std::string& path, std::string_view why) const {
    return absl::StrCat(path, " (", BytesBelow(file_system_, path), " bytes",
                        why.empty() ? "" : "; ", std::string(why), ")");
  }

  void Look() {
    const std::string abandoned = JoinPath(run_dir_, "abandoned");
    if (file_system_.Exists(abandoned)) {
      needless_.push_back(Sized(abandoned, "steps that a resume left"));
    }
    const std::string parent = CheckpointsDir(run_dir_);
    const auto names = file_system_.List(parent);
    for (size_t i = 0; names.ok() && i < names->size(); ++i) {
      if (!(*names)[i].starts_with(kForeignPrefix)) continue;
      needless_.push_back(
          Sized(JoinPath(parent, (*names)[i]), "another run's"));
    }
    const auto listed = ListCheckpoints(file_system_, run_dir_);
    if (!listed.ok()) return;
    for (auto c = listed->rbegin(); c != listed->rend(); ++c) {
      if (!c->complete) {
        needless_.push_back(Sized(c->dir, "not complete"));
      } else if (newest_.empty()) {
        newest_ = c->dir;
      } else {
        older_.push_back(Sized(c->dir, c->pinned ? "pinned" : ""));
      }
    }
  }

  FileSystem& file_system_;
  const std::string& run_dir_;
  std::vector<std::string> needless_, older_;
  std::string newest_;
};

}  // namespace

absl::Status CheckSpace(FileSystem& file_system, const std::string& run_dir,
                        uint64_t needed_bytes) {
  LS_ASSIGN_OR_RETURN(const uint64_t available, file_system.FreeBytes(run_dir));
  if (available >= needed_bytes) return absl::OkStatus();
  return IoError(
      absl::StrCat("a checkpoint of about ", needed_bytes,
                   " bytes does not fit: ", needed_bytes - available,
                   " bytes are missing; earlier checkpoints are untouched"),
      run_dir, Advice(file_system, run_dir).Text(), ENOSPC);
}

}  // namespace lockstep
