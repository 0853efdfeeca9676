#include "ckpt/verify.h"

#include <algorithm>
#include <utility>

#include "ckpt/index_text.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify_files.h"
#include "determinism/first_line.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string Sentence(const Damage& damage) {
  return damage.file +
         (damage.tensor.empty() ? "" : " (" + damage.tensor + ")") + " bytes " +
         std::to_string(damage.from) + " to " + std::to_string(damage.to) +
         ": " + damage.what;
}

uint64_t SizeOrZero(FileSystem& file_system, const std::string& path) {
  const absl::StatusOr<FileInfo> info = file_system.Stat(path);
  return info.ok() ? info->size : 0;
}

// "" or why the folder is not what its name says.
std::string WrongName(const std::string& dir, const CheckpointIndex& index) {
  const int64_t named = StepOfCheckpointName(BaseName(dir));
  return named < 0 || named == index.step
             ? ""
             : "the index is of step " + std::to_string(index.step) +
                   ", the folder is named for another";
}

}  // namespace

std::string VerifyResult::Summary() const {
  if (ok) return "every byte holds";
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(damage.size(), 3); ++i) {
    text += (i == 0 ? "" : "; ") + Sentence(damage[i]);
  }
  if (damage.size() > 3) {
    text += "; and " + std::to_string(damage.size() - 3) + " more";
  }
  return text;
}

absl::StatusOr<VerifyResult> VerifyCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir) {
  VerifyResult result;
  const std::string path = JoinPath(checkpoint_dir, kIndexFile);
  const absl::StatusOr<std::string> text =
      ReadIndexText(file_system, checkpoint_dir);
  absl::StatusOr<CheckpointIndex> index =
      text.ok() ? IndexFromJson(*text, path)
                : absl::StatusOr<CheckpointIndex>(text.status());
  if (!index.ok()) {
    result.damage.push_back({kIndexFile, "", 0, SizeOrZero(file_system, path),
                             FirstLine(index.status())});
    return result;
  }
  result.index_sha256 = Sha256Hex(*text);
  const std::string wrong_name = WrongName(checkpoint_dir, *index);
  if (!wrong_name.empty()) {
    result.damage.push_back({kIndexFile, "", 0, text->size(), wrong_name});
  }
  VerifyFiles(file_system, checkpoint_dir, *index, result.damage);
  result.ok = result.damage.empty();
  result.index = *std::move(index);
  return result;
}

std::string VerifyResultToJson(const VerifyResult& result) {
  OrderedJson json;
  json["ok"] = result.ok;
  json["step"] = result.index.step;
  OrderedJson& list = json["damage"] = OrderedJson::array();
  for (const Damage& damage : result.damage) {
    list.push_back({{"file", damage.file},
                    {"tensor", damage.tensor},
                    {"from", damage.from},
                    {"to", damage.to},
                    {"what", damage.what}});
  }
  return CompactJson(json);
}

}  // namespace lockstep
