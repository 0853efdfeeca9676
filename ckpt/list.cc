// What stands in a run's folder of checkpoints, for people and programs.

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/retention.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify.h"
#include "determinism/first_line.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// "" or what is missing, without reading data.
std::string Incompleteness(FileSystem& file_system, ListedCheckpoint& listed,
                           const CheckpointIndex& index) {
  if (index.step != listed.step) {
    return "its index is of step " + std::to_string(index.step);
  }
  for (const auto& [name, file] : index.files) {
    const absl::StatusOr<FileInfo> info =
        file_system.Stat(JoinPath(listed.dir, name));
    if (!info.ok()) return name + ": " + FirstLine(info.status());
    if (info->size != file.size_bytes) {
      return name + " has " + std::to_string(info->size) +
             " bytes instead of " + std::to_string(file.size_bytes);
    }
    listed.size_bytes += info->size;
  }
  const absl::StatusOr<std::string> manifest =
      file_system.ReadFile(JoinPath(listed.dir, kManifestFile));
  if (!manifest.ok()) return FirstLine(manifest.status());
  return Sha256Hex(*manifest) == index.files.at(kManifestFile).sha256
             ? ""
             : "manifest.json has changed";
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(shape[d]);
  }
  return text + "]";
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

absl::StatusOr<std::vector<ListedCheckpoint>> ListCheckpoints(
    FileSystem& file_system, const std::string& run_dir) {
  std::vector<ListedCheckpoint> result;
  const std::string parent = CheckpointsDir(run_dir);
  if (!file_system.Exists(parent)) return result;
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system.List(parent));
  for (const std::string& name : names) {
    ListedCheckpoint listed;
    listed.step = StepOfCheckpointName(name);
    if (listed.step < 0) continue;
    listed.name = name;
    listed.dir = JoinPath(parent, name);
    const absl::StatusOr<CheckpointIndex> index =
        ReadIndex(file_system, listed.dir);
    if (index.ok()) {
      listed.run_id = index->run_id;
      for (const auto& [file, record] : index->files) {
        listed.shards += record.header_sha256.empty() ? 0 : 1;
      }
      listed.why = Incompleteness(file_system, listed, *index);
    } else {
      listed.why = FirstLine(index.status());
    }
    listed.complete = listed.why.empty();
    // A live trainer's retention may have taken it away meanwhile.
    if (!listed.complete && !file_system.Stat(listed.dir).ok()) continue;
    listed.pinned = file_system.Exists(PinOf(run_dir, name));
    const auto info = file_system.Stat(JoinPath(listed.dir, kIndexFile));
    if (info.ok()) listed.saved_ms = info->mtime_ns / 1'000'000;
    result.push_back(std::move(listed));
  }
  std::sort(result.begin(), result.end(),
            [](const ListedCheckpoint& a, const ListedCheckpoint& b) {
              return a.step < b.step;
            });
  return result;
}

std::string ListToJson(const std::vector<ListedCheckpoint>& checkpoints) {
  OrderedJson list = OrderedJson::array();
  for (const ListedCheckpoint& c : checkpoints) {
    list.push_back({{"name", c.name},
                    {"dir", c.dir},
                    {"step", c.step},
                    {"complete", c.complete},
                    {"why", c.why},
                    {"run_id", c.run_id},
                    {"bytes", c.size_bytes},
                    {"shards", c.shards},
                    {"saved_ms", c.saved_ms},
                    {"pinned", c.pinned}});
  }
  return CompactJson({{"checkpoints", list}});
}

std::string ShowCheckpoint(const CheckpointIndex& index) {
  std::string text = "step        " + std::to_string(index.step) +
                     "\nrun         " + index.run_id + "\nstate       " +
                     index.state_fingerprint + "\nruntime     " +
                     index.runtime_fingerprint + "\nledger head " +
                     index.ledger_head + "\n";
  size_t widest = 4;
  for (const IndexTensor& t : index.tensors) {
    widest = std::max(widest, t.name.size());
  }
  text += "\n" + Padded("name", widest) + "  group    kind    dtype  " +
          Padded("shape", 16) + "  fingerprint\n";
  for (const IndexTensor& t : index.tensors) {
    text += Padded(t.name, widest) + "  " + Padded(NameOf(t.group), 7) + "  " +
            Padded(NameOf(t.kind), 6) + "  " + Padded(NameOf(t.dtype), 5) +
            "  " + Padded(ShapeText(t.shape), 16) + "  " + t.fingerprint + "\n";
  }
  return text;
}

}  // namespace lockstep
