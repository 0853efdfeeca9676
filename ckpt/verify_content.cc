#include "ckpt/verify_content.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/manifest.h"
#include "ckpt/tensor_parts.h"
#include "determinism/fingerprint.h"
#include "determinism/first_line.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

uint64_t SizeOrZero(FileSystem& file_system, const std::string& dir,
                    const std::string& file) {
  const auto info = file_system.Stat(JoinPath(dir, file));
  return info.ok() ? info->size : 0;
}

// A resume goes by the index's, and by the manifest that lies beside it.
void AddOtherRun(FileSystem& file_system, const std::string& dir,
                 VerifyResult& result) {
  const auto manifest = ReadManifest(file_system, dir);
  if (!manifest.ok()) {
    result.damage.push_back({kManifestFile, "", 0,
                             SizeOrZero(file_system, dir, kManifestFile),
                             FirstLine(manifest.status())});
  } else if (manifest->run_id != result.index.run_id) {
    result.damage.push_back(
        {kIndexFile, "", 0, SizeOrZero(file_system, dir, kIndexFile),
         absl::StrCat("is of run ", result.index.run_id,
                      ", and the manifest beside it of ", manifest->run_id)});
  }
}

absl::Status AddForeignFiles(FileSystem& file_system, const std::string& dir,
                             VerifyResult& result) {
  LS_ASSIGN_OR_RETURN(const auto names, file_system.List(dir));
  for (const std::string& name : names) {
    if (name == kIndexFile || result.index.files.contains(name)) continue;
    result.damage.push_back({name, "", 0, SizeOrZero(file_system, dir, name),
                             "is none of the checkpoint's files"});
  }
  return absl::OkStatus();
}

absl::Status AddWrongFingerprints(FileSystem& file_system,
                                  const std::string& dir,
                                  VerifyResult& result) {
  LS_ASSIGN_OR_RETURN(const auto reader,
                      CheckpointReader::Open(file_system, dir));
  std::vector<TensorFingerprint> all;
  for (const IndexTensor& tensor : reader->index().tensors) {
    const absl::StatusOr<Fingerprint> read = reader->Sum(tensor);
    if (!read.ok()) {
      result.damage.push_back(
          {tensor.boxes[0].file, tensor.name, 0, 0, FirstLine(read.status())});
      continue;
    }
    const Fingerprint& sum = *read;
    all.push_back({tensor.name, tensor.dtype, tensor.shape, sum});
    if (sum.Hex() == tensor.fingerprint) continue;
    for (const IndexBox& box : tensor.boxes) {
      result.damage.push_back(
          {box.file, tensor.name, box.offset_bytes,
           box.offset_bytes + box.size_bytes,
           absl::StrCat("every byte holds, and the tensor has fingerprint ",
                        sum.Hex(), ", the saver saw ", tensor.fingerprint)});
    }
  }
  if (result.damage.empty() &&
      FieldFingerprint(all) != reader->index().state_fingerprint) {
    result.damage.push_back(
        {kIndexFile, "", 0, SizeOrZero(file_system, dir, kIndexFile),
         "the fingerprint of the whole state is not that of its tensors"});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VerifyResult> VerifyContent(FileSystem& file_system,
                                           const std::string& checkpoint_dir) {
  LS_ASSIGN_OR_RETURN(VerifyResult result,
                      VerifyCheckpoint(file_system, checkpoint_dir));
  if (result.index.files.empty()) return result;  // the index is damaged
  if (result.ok) {
    AddOtherRun(file_system, checkpoint_dir, result);
    LS_RETURN_IF_ERROR(
        AddWrongFingerprints(file_system, checkpoint_dir, result));
  }
  LS_RETURN_IF_ERROR(AddForeignFiles(file_system, checkpoint_dir, result));
  result.ok = result.damage.empty();
  return result;
}

}  // namespace lockstep
