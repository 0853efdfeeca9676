#include "ckpt/verify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "ckpt/hashed_reads.h"
#include "ckpt/sealed_json.h"
#include "determinism/first_line.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct Extent {
  std::string tensor;  // "" for a header or a whole file
  uint64_t from = 0;
  uint64_t to = 0;
  std::string sha256;
  std::string what;  // if it does not match
};

class FileVerifier {
 public:
  FileVerifier(FileSystem& file_system, const std::string& dir,
               std::vector<Damage>& damage)
      : file_system_(file_system), dir_(dir), damage_(damage) {}

  // `extents` tile the file up to `size_bytes`.
  absl::Status Verify(const std::string& name, uint64_t size_bytes,
                      const std::vector<Extent>& extents) {
    const absl::StatusOr<FileInfo> info =
        file_system_.Stat(JoinPath(dir_, name));
    if (info.ok() && info->is_link) {
      damage_.push_back({name, "", 0, size_bytes, "is a symbolic link"});
      return absl::OkStatus();
    }
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> file =
        file_system_.OpenRead(JoinPath(dir_, name));
    if (absl::IsNotFound(file.status())) {
      damage_.push_back({name, "", 0, size_bytes, "is missing"});
      return absl::OkStatus();
    }
    LS_RETURN_IF_ERROR(file.status());
    const uint64_t present = (*file)->Size();
    LS_RETURN_IF_ERROR(VerifyExtents(name, **file, present, extents));
    if (present > size_bytes) {
      damage_.push_back(
          {name, "", size_bytes, present, "bytes after the end of the file"});
    }
    return absl::OkStatus();
  }

 private:
  absl::Status VerifyExtents(const std::string& name,
                             const RandomAccessFile& file, uint64_t present,
                             const std::vector<Extent>& extents) {
    std::vector<HashedRead> reads;
    for (const Extent& extent : extents) {
      const bool there = extent.to <= present;
      reads.push_back(
          {&file, extent.from, there ? extent.to - extent.from : 0});
    }
    ReadAndHash(reads);
    for (const HashedRead& read : reads) LS_RETURN_IF_ERROR(read.status);
    for (size_t i = 0; i < extents.size(); ++i) {
      const Extent& extent = extents[i];
      if (extent.to > present) {
        damage_.push_back({name, extent.tensor, std::max(extent.from, present),
                           extent.to, "is cut off"});
      } else if (reads[i].sha256 != extent.sha256) {
        damage_.push_back(
            {name, extent.tensor, extent.from, extent.to, extent.what});
      }
    }
    return absl::OkStatus();
  }

  FileSystem& file_system_;
  const std::string& dir_;
  std::vector<Damage>& damage_;
};

std::map<std::string, std::vector<Extent>> ExtentsOf(
    const CheckpointIndex& index) {
  std::map<std::string, std::vector<Extent>> extents;
  for (const auto& [name, file] : index.files) {
    const bool shard = !file.header_sha256.empty();
    extents[name].push_back({"", 0, shard ? file.header_bytes : file.size_bytes,
                             shard ? file.header_sha256 : file.sha256,
                             "has changed"});
  }
  for (const IndexTensor& tensor : index.tensors) {
    for (const IndexBox& box : tensor.boxes) {
      extents[box.file].push_back({tensor.name, box.offset_bytes,
                                   box.offset_bytes + box.size_bytes,
                                   box.sha256, "has changed"});
    }
  }
  return extents;
}

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
  const absl::StatusOr<std::string> text = file_system.ReadFile(path);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
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
  FileVerifier verifier(file_system, checkpoint_dir, result.damage);
  for (auto& [name, extents] : ExtentsOf(*index)) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) {
                return std::tie(a.from, a.to) < std::tie(b.from, b.to);
              });
    LS_RETURN_IF_ERROR(
        verifier.Verify(name, index->files.at(name).size_bytes, extents));
  }
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
