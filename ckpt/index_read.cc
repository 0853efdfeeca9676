// Reading an index: from JSON that nobody vouches for to a sound one.

#include <string>
#include <string_view>
#include <utility>

#include "ckpt/checkpoint_index.h"
#include "ckpt/index_check.h"
#include "ckpt/index_text.h"
#include "ckpt/sealed_json.h"

namespace lockstep {
namespace {

constexpr StateKind kKinds[] = {StateKind::kTensor, StateKind::kU64,
                                StateKind::kI64, StateKind::kF64,
                                StateKind::kBytes};

void ReadDType(JsonFields& fields, DType& out) {
  std::string name;
  fields.Get("dtype", name);
  const absl::StatusOr<DType> dtype = DTypeFromName(name);
  if (dtype.ok()) {
    out = *dtype;
  } else {
    fields.Complain("has the unknown dtype \"" + name + "\"");
  }
}

void ReadGroup(JsonFields& fields, StateGroup& out) {
  std::string name;
  fields.Get("group", name);
  for (int i = 0; i < kStateGroupCount; ++i) {
    out = static_cast<StateGroup>(i);
    if (name == NameOf(out)) return;
  }
  fields.Complain("has the unknown group \"" + name + "\"");
}

void ReadKind(JsonFields& fields, StateKind& out) {
  std::string name;
  fields.Get("kind", name);
  for (const StateKind kind : kKinds) {
    out = kind;
    if (name == NameOf(kind)) return;
  }
  fields.Complain("has the unknown kind \"" + name + "\"");
}

// Whole, or the complaint why not.
std::string ReadTree(const OrderedJson& json, const std::string& path,
                     HashTree& tree) {
  JsonFields fields(json, path);
  fields.Get("sha256", tree.root);
  if (json.is_object() && json.contains("leaves")) {
    fields.Get("leaves", tree.leaves);
  }
  bool sound = IsSha256Hex(tree.root);
  for (const std::string& leaf : tree.leaves) {
    sound = sound && IsSha256Hex(leaf);
  }
  if (!sound) {
    fields.Complain("has no SHA-256");
  } else if (!tree.leaves.empty() && TreeOf(tree.leaves).root != tree.root) {
    fields.Complain("has leaves of another root");
  }
  return fields.error();
}

std::string ReadBox(const OrderedJson& json, const std::string& path,
                    IndexBox& box) {
  JsonFields fields(json, path);
  fields.Get("start", box.start);
  fields.Get("shape", box.shape);
  fields.Get("file", box.file);
  fields.Get("offset", box.offset_bytes);
  fields.Get("bytes", box.size_bytes);
  return fields.ok() ? ReadTree(json, path, box.tree) : fields.error();
}

std::string ReadTensor(const OrderedJson& json, const std::string& path,
                       IndexTensor& tensor) {
  JsonFields fields(json, path);
  fields.Get("name", tensor.name);
  ReadGroup(fields, tensor.group);
  ReadKind(fields, tensor.kind);
  ReadDType(fields, tensor.dtype);
  fields.Get("shape", tensor.shape);
  fields.Get("fingerprint", tensor.fingerprint);
  for (const OrderedJson& box : fields.Array("boxes")) {
    const std::string error =
        ReadBox(box, path + " box", tensor.boxes.emplace_back());
    if (!error.empty()) return error;
  }
  return fields.error();
}

std::string ReadFileRecord(const OrderedJson& json, const std::string& name,
                           IndexFile& file) {
  JsonFields fields(json, "file \"" + name + "\"");
  fields.Get("bytes", file.size_bytes);
  if (json.is_object() && json.contains("sha256")) {
    fields.Get("sha256", file.sha256);
  }
  if (json.is_object() && json.contains("header_sha256")) {
    fields.Get("header_bytes", file.header_bytes);
    fields.Get("header_sha256", file.header_sha256);
  }
  if (!IsSha256Hex(file.sha256) && !IsSha256Hex(file.header_sha256)) {
    fields.Complain("has no SHA-256");
  }
  return fields.error();
}

std::string ReadRuntime(const OrderedJson& json, IndexRuntime& runtime) {
  JsonFields fields(json, "runtime tensor");
  fields.Get("name", runtime.name);
  ReadDType(fields, runtime.dtype);
  fields.Get("shape", runtime.shape);
  fields.Get("fingerprint", runtime.fingerprint);
  return fields.error();
}

void ReadLists(JsonFields& fields, CheckpointIndex& index) {
  std::string error;
  for (const auto& [name, file] : fields.Object("files").items()) {
    error = ReadFileRecord(file, name, index.files[name]);
    if (!error.empty()) return fields.Complain(error);
  }
  for (const OrderedJson& json : fields.Array("tensors")) {
    const std::string path =
        "tensors[" + std::to_string(index.tensors.size()) + "]";
    error = ReadTensor(json, path, index.tensors.emplace_back());
    if (!error.empty()) return fields.Complain(error);
  }
  for (const OrderedJson& json : fields.Array("runtime")) {
    error = ReadRuntime(json, index.runtime.emplace_back());
    if (!error.empty()) return fields.Complain(error);
  }
}

absl::Status Damaged(std::string_view what, std::string_view where) {
  return absl::DataLossError("the index " + std::string(what) +
                             "\n  where: " + std::string(where) +
                             "\n  do: use another checkpoint");
}

}  // namespace

absl::StatusOr<CheckpointIndex> IndexFromJson(std::string_view text,
                                              std::string_view where) {
  const absl::StatusOr<OrderedJson> json = OpenSealedJson(text);
  if (!json.ok()) return Damaged(std::string(json.status().message()), where);
  CheckpointIndex index;
  JsonFields fields(*json, "index");
  fields.Get("format_version", index.format_version);
  if (fields.ok() && index.format_version > CheckpointIndex::kFormatVersion) {
    fields.Complain("was made by a newer program");
  }
  index.hash_block_bytes = 0;
  if (index.format_version >= 2) {
    fields.Get("hash_block_bytes", index.hash_block_bytes);
  }
  fields.Get("step", index.step);
  fields.Get("run_id", index.run_id);
  fields.Get("generation", index.generation);
  fields.Get("ledger_head", index.ledger_head);
  fields.Get("state_fingerprint", index.state_fingerprint);
  fields.Get("runtime_fingerprint", index.runtime_fingerprint);
  ReadLists(fields, index);
  if (!fields.ok()) return Damaged("cannot be read: " + fields.error(), where);
  const std::string contradiction = ContradictionIn(index);
  if (!contradiction.empty()) return Damaged(contradiction, where);
  return index;
}

absl::StatusOr<CheckpointIndex> ReadIndex(FileSystem& file_system,
                                          const std::string& checkpoint_dir) {
  const std::string path = JoinPath(checkpoint_dir, kIndexFile);
  const absl::StatusOr<std::string> text =
      ReadIndexText(file_system, checkpoint_dir);
  if (absl::IsNotFound(text.status())) {
    return Damaged("is missing: the checkpoint is not complete", path);
  }
  if (!text.ok()) return text.status();
  return IndexFromJson(*text, path);
}

}  // namespace lockstep
