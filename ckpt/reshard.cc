#include "ckpt/reshard.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/folder_names.h"
#include "ckpt/reshard_target.h"
#include "ckpt/shard_copy.h"
#include "ckpt/tensor_parts.h"
#include "ckpt/verify.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// What headers, index and folders may take beyond the tensors.
constexpr uint64_t kSlackBytes = 4 << 20;

class Resharder {
 public:
  Resharder(FileSystem& file_system, const ReshardRequest& request)
      : file_system_(file_system),
        request_(request),
        temp_(JoinPath(DirName(request.to),
                       absl::StrCat(std::string(kTempPrefix),
                                    BaseName(request.to), "-0"))) {}

  absl::StatusOr<ReshardedCheckpoint> Run() {
    LS_RETURN_IF_ERROR(CheckTarget());
    LS_RETURN_IF_ERROR(OpenSource());
    LS_RETURN_IF_ERROR(CheckSpace());
    absl::Status status = WriteAll();
    if (status.ok()) status = CheckAgain();
    if (status.ok()) status = Commit();
    if (!status.ok()) {
      file_system_.RemoveTree(temp_).IgnoreError();
      return status;
    }
    return ReshardedCheckpoint{std::move(index_), size_bytes_};
  }

 private:
  absl::Status CheckTarget() const {
    return CheckReshardTarget(file_system_, request_.to);
  }

  absl::Status OpenSource() {
    LS_ASSIGN_OR_RETURN(const VerifyResult source,
                        VerifyCheckpoint(file_system_, request_.from));
    if (!source.ok) {
      return NoUsableCheckpoint(
          "the checkpoint is damaged: " + source.Summary(), request_.from,
          "use another checkpoint");
    }
    LS_ASSIGN_OR_RETURN(source_,
                        CheckpointReader::Open(file_system_, request_.from));
    index_ = source_->index();
    const int64_t named = StepOfCheckpointName(BaseName(request_.to));
    if (named >= 0 && named != index_.step) {
      return InputError(absl::StrCat("the checkpoint is of step ", index_.step),
                        request_.to,
                        "name the folder for that step, or for none");
    }
    index_.format_version = CheckpointIndex::kFormatVersion;
    index_.hash_block_bytes = kHashBlockBytes;
    index_.generation = 0;
    index_.files.clear();
    for (IndexTensor& tensor : index_.tensors) tensor.boxes.clear();
    return absl::OkStatus();
  }

  absl::Status CheckSpace() const {
    uint64_t needed = kSlackBytes;
    for (const auto& [name, file] : source_->index().files) {
      needed += file.size_bytes;
    }
    LS_RETURN_IF_ERROR(file_system_.MakeDirs(DirName(request_.to)));
    LS_ASSIGN_OR_RETURN(const uint64_t available,
                        file_system_.FreeBytes(DirName(request_.to)));
    if (available >= needed) return absl::OkStatus();
    return IoError(absl::StrCat("a checkpoint of about ", needed,
                                " bytes does not fit: ", needed - available,
                                " bytes are missing"),
                   request_.to, "free space, or write it elsewhere", ENOSPC);
  }

  // What each rank writes, by tensor, as a save has it.
  absl::StatusOr<std::vector<std::vector<ShardPiece>>> Plan() const {
    std::vector<std::vector<ShardPiece>> plan(
        std::max<size_t>(request_.ranks.size(), 1));
    std::set<size_t> shared;
    for (size_t rank = 0; rank < request_.ranks.size(); ++rank) {
      for (const RankBox& box : request_.ranks[rank]) {
        const ptrdiff_t found = NumberOf(index_, box.tensor);
        if (found < 0) return Unfit("lacks " + box.tensor);
        const auto number = static_cast<size_t>(found);
        plan[rank].push_back({number, box.box});
        shared.insert(number);
      }
    }
    for (size_t t = 0; t < index_.tensors.size(); ++t) {
      if (shared.contains(t)) continue;
      plan[0].push_back({t, WholeOf(index_.tensors[t])});
    }
    for (auto& pieces : plan) {
      std::stable_sort(pieces.begin(), pieces.end(),
                       [](const ShardPiece& a, const ShardPiece& b) {
                         return a.tensor < b.tensor;
                       });
    }
    return plan;
  }

  absl::Status Unfit(const std::string& what) const {
    return NoUsableCheckpoint(
        "the checkpoint does not fit this program's layout: it " + what,
        request_.from, "use the build that it was saved with");
  }

  absl::Status WriteAll() {
    LS_ASSIGN_OR_RETURN(const auto plan, Plan());
    LS_RETURN_IF_ERROR(file_system_.RemoveTree(temp_));
    LS_RETURN_IF_ERROR(file_system_.MakeDirs(temp_));
    ShardCopier copier(file_system_, *source_, temp_);
    for (size_t rank = 0; rank < plan.size(); ++rank) {
      if (plan[rank].empty()) continue;
      LS_RETURN_IF_ERROR(
          copier.Write(static_cast<int>(rank), plan[rank], index_));
    }
    LS_RETURN_IF_ERROR(copier.CheckSums());
    LS_ASSIGN_OR_RETURN(
        const std::string manifest,
        file_system_.ReadFile(JoinPath(request_.from, kManifestFile)));
    LS_RETURN_IF_ERROR(WriteFile(kManifestFile, manifest));
    index_.files[kManifestFile] = {manifest.size(), Sha256Hex(manifest), 0, ""};
    const std::string text = IndexToJson(index_);
    const auto sound = IndexFromJson(text, "the new index");
    if (!sound.ok()) return Unfit(std::string(sound.status().message()));
    for (const auto& [name, file] : index_.files) {
      size_bytes_ += file.size_bytes;
    }
    size_bytes_ += text.size();
    LS_RETURN_IF_ERROR(WriteFile(kIndexFile, text));
    return file_system_.SyncDir(temp_);
  }

  // Hashes and fingerprints once more, from what stands on the disk.
  absl::Status CheckAgain() {
    LS_ASSIGN_OR_RETURN(const VerifyResult result,
                        VerifyCheckpoint(file_system_, temp_));
    if (!result.ok) {
      return IoError("what was written does not read back: " + result.Summary(),
                     request_.to, "check the disk");
    }
    LS_ASSIGN_OR_RETURN(const auto written,
                        CheckpointReader::Open(file_system_, temp_));
    return written->CheckFingerprints();
  }

  absl::Status WriteFile(const std::string& name, const std::string& text) {
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                        file_system_.CreateNew(JoinPath(temp_, name)));
    LS_RETURN_IF_ERROR(file->Append(text));
    LS_RETURN_IF_ERROR(file->Sync());
    return file->Close();
  }

  absl::Status Commit() {
    LS_RETURN_IF_ERROR(CheckTarget());
    LS_RETURN_IF_ERROR(file_system_.Rename(temp_, request_.to));
    return file_system_.SyncDir(DirName(request_.to));
  }

  FileSystem& file_system_;
  const ReshardRequest& request_;
  const std::string temp_;
  std::unique_ptr<CheckpointReader> source_;
  CheckpointIndex index_;  // of the new one
  uint64_t size_bytes_ = 0;
};

}  // namespace

absl::StatusOr<ReshardedCheckpoint> ReshardCheckpoint(
    FileSystem& file_system, const ReshardRequest& request) {
  return Resharder(file_system, request).Run();
}

}  // namespace lockstep
