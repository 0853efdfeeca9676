#include "ckpt/retention.h"

#include <algorithm>
#include <utility>

#include "ckpt/checkpoint_index.h"
#include "ckpt/folder_names.h"
#include "ckpt/run_lock.h"
#include "ckpt/verify.h"
#include "determinism/check.h"
#include "determinism/first_line.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Newest first; the rest is explained in `notes`.
std::vector<ListedCheckpoint> Countable(std::vector<ListedCheckpoint> listed,
                                        const RetentionOptions& options,
                                        int64_t committed_step,
                                        std::vector<std::string>& notes) {
  std::vector<ListedCheckpoint> result;
  std::reverse(listed.begin(), listed.end());
  for (ListedCheckpoint& c : listed) {
    if (!c.complete) {
      notes.push_back(c.name + " does not count: " + c.why);
    } else if (c.run_id != options.run_id) {
      notes.push_back(c.name + " does not count: it belongs to run " +
                      c.run_id);
    } else if (c.step > committed_step) {
      notes.push_back(c.name + " does not count: it is of a later step than " +
                      "the one just saved");
    } else {
      result.push_back(std::move(c));
    }
  }
  return result;
}

absl::Status Remove(FileSystem& file_system, const std::string& parent,
                    const std::vector<std::string>& names) {
  std::vector<std::string> doomed;
  for (const std::string& name : names) {
    doomed.push_back(JoinPath(parent, SideName(kDeletedPrefix, name, 0)));
    LS_RETURN_IF_ERROR(file_system.RemoveTree(doomed.back()));
    LS_RETURN_IF_ERROR(
        file_system.Rename(JoinPath(parent, name), doomed.back()));
  }
  // Before the contents go, the final names must be gone for good.
  if (!doomed.empty()) LS_RETURN_IF_ERROR(file_system.SyncDir(parent));
  for (const std::string& path : doomed) {
    LS_RETURN_IF_ERROR(file_system.RemoveTree(path));
  }
  return absl::OkStatus();
}

absl::Status CheckNewOne(FileSystem& file_system, const std::string& dir) {
  LS_ASSIGN_OR_RETURN(const VerifyResult result,
                      VerifyCheckpoint(file_system, dir));
  if (result.ok) return absl::OkStatus();
  return IoError(
      "the checkpoint just saved does not read back: " + result.Summary(), dir,
      "check the disk; the earlier checkpoints are all kept");
}

// "" or why it does not hold in every byte, or cannot be read.
std::string DamageOf(FileSystem& file_system, const std::string& dir) {
  const absl::StatusOr<VerifyResult> result =
      VerifyCheckpoint(file_system, dir);
  if (!result.ok()) return FirstLine(result.status());
  return result->ok ? "" : result->Summary();
}

// What stays and what goes of `ours` (newest first). One that stays for being
// new has the place of an older one, so it must hold in every byte before that
// one goes; no more than needed are read.
RetentionReport Judge(FileSystem& file_system, const RetentionOptions& options,
                      const std::vector<ListedCheckpoint>& ours,
                      RetentionReport report) {
  int64_t places = options.keep;
  for (size_t i = 0; i < ours.size(); ++i) {
    const ListedCheckpoint& c = ours[i];
    // The newest was read back just now, and where nothing is older or all have
    // room nothing goes.
    const bool must_hold = places > 0 && i > 0 && i + 1 < ours.size() &&
                           ours.size() > static_cast<size_t>(options.keep);
    const std::string why = must_hold ? DamageOf(file_system, c.dir) : "";
    if (!why.empty()) {
      report.notes.push_back(c.name + " does not count: " + why);
      continue;
    }
    const bool for_good = options.keep_every > 0 && c.step > 0 &&
                          c.step % options.keep_every == 0;
    const bool stays = places > 0 || for_good || c.pinned;
    (stays ? report.kept : report.removed).push_back(c.name);
    if (places > 0) --places;
  }
  return report;
}

}  // namespace

std::string PinOf(const std::string& run_dir, const std::string& name) {
  return JoinPath(CheckpointsDir(run_dir), ".pin-" + name);
}

absl::StatusOr<RetentionReport> ApplyRetention(FileSystem& file_system,
                                               const RetentionOptions& options,
                                               int64_t committed_step) {
  LS_CHECK_GE(options.keep, 1);
  LS_CHECK_GE(options.keep_every, 0);
  if (options.lock != nullptr) {
    LS_RETURN_IF_ERROR(options.lock->CheckStillHolder());
  }
  const std::string parent = CheckpointsDir(options.run_dir);
  LS_RETURN_IF_ERROR(CheckNewOne(
      file_system, JoinPath(parent, CheckpointName(committed_step))));
  LS_ASSIGN_OR_RETURN(std::vector<ListedCheckpoint> listed,
                      ListCheckpoints(file_system, options.run_dir));
  RetentionReport report;
  const std::vector<ListedCheckpoint> ours =
      Countable(std::move(listed), options, committed_step, report.notes);
  report = Judge(file_system, options, ours, std::move(report));
  if (options.before_removal != nullptr && !report.removed.empty()) {
    LS_RETURN_IF_ERROR(options.before_removal(report.removed));
  }
  LS_RETURN_IF_ERROR(Remove(file_system, parent, report.removed));
  return report;
}

}  // namespace lockstep
