#include "ckpt/checkpoint_index.h"

#include "ckpt/sealed_json.h"
#include "determinism/check.h"

namespace lockstep {
namespace {

OrderedJson BoxToJson(const IndexBox& box) {
  OrderedJson json = {{"start", box.start},      {"shape", box.shape},
                      {"file", box.file},        {"offset", box.offset_bytes},
                      {"bytes", box.size_bytes}, {"sha256", box.tree.root}};
  if (!box.tree.leaves.empty()) json["leaves"] = box.tree.leaves;
  return json;
}

OrderedJson TensorToJson(const IndexTensor& tensor) {
  OrderedJson json = {
      {"name", tensor.name},         {"group", NameOf(tensor.group)},
      {"kind", NameOf(tensor.kind)}, {"dtype", NameOf(tensor.dtype)},
      {"shape", tensor.shape},       {"fingerprint", tensor.fingerprint}};
  OrderedJson& boxes = json["boxes"] = OrderedJson::array();
  for (const IndexBox& box : tensor.boxes) boxes.push_back(BoxToJson(box));
  return json;
}

OrderedJson FileToJson(const IndexFile& file) {
  OrderedJson json = {{"bytes", file.size_bytes}};
  if (!file.sha256.empty()) json["sha256"] = file.sha256;
  if (!file.header_sha256.empty()) {
    json["header_bytes"] = file.header_bytes;
    json["header_sha256"] = file.header_sha256;
  }
  return json;
}

}  // namespace

const char* NameOf(StateKind kind) {
  switch (kind) {
    case StateKind::kTensor:
      return "tensor";
    case StateKind::kU64:
      return "u64";
    case StateKind::kI64:
      return "i64";
    case StateKind::kF64:
      return "f64";
    case StateKind::kBytes:
      return "bytes";
  }
  LS_CHECK(false) << static_cast<int>(kind);
  return "";
}

std::string IndexToJson(const CheckpointIndex& index) {
  OrderedJson json;
  json["format_version"] = index.format_version;
  if (index.hash_block_bytes > 0) {
    json["hash_block_bytes"] = index.hash_block_bytes;
  }
  json["step"] = index.step;
  json["run_id"] = index.run_id;
  json["generation"] = index.generation;
  json["ledger_head"] = index.ledger_head;
  json["state_fingerprint"] = index.state_fingerprint;
  json["runtime_fingerprint"] = index.runtime_fingerprint;
  OrderedJson& files = json["files"] = OrderedJson::object();
  for (const auto& [name, file] : index.files) files[name] = FileToJson(file);
  OrderedJson& tensors = json["tensors"] = OrderedJson::array();
  for (const IndexTensor& tensor : index.tensors) {
    tensors.push_back(TensorToJson(tensor));
  }
  OrderedJson& runtime = json["runtime"] = OrderedJson::array();
  for (const IndexRuntime& tensor : index.runtime) {
    runtime.push_back({{"name", tensor.name},
                       {"dtype", NameOf(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"fingerprint", tensor.fingerprint}});
  }
  return SealJson(json);
}

}  // namespace lockstep
