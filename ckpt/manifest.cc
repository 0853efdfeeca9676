#include "ckpt/manifest.h"

#include <utility>

#include "ckpt/bounded_read.h"
#include "ckpt/sealed_json.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

OrderedJson DataToJson(const std::vector<Manifest::DataFile>& data) {
  OrderedJson list = OrderedJson::array();
  for (const Manifest::DataFile& file : data) {
    list.push_back(
        {{"path", file.path}, {"size", file.size}, {"sha256", file.sha256}});
  }
  return list;
}

OrderedJson LayoutToJson(const Manifest::Layout& layout) {
  return {{"world", layout.world},
          {"data", layout.data},
          {"tensor", layout.tensor},
          {"pipeline", layout.pipeline},
          {"micro_batch", layout.micro_batch},
          {"threads", layout.threads}};
}

OrderedJson AllowedToJson(const std::vector<Manifest::Allowed>& allowed) {
  OrderedJson list = OrderedJson::array();
  for (const Manifest::Allowed& a : allowed) {
    list.push_back({{"key", a.key},
                    {"saved", a.saved},
                    {"current", a.current},
                    {"reason", a.reason},
                    {"step", a.step}});
  }
  return list;
}

std::string ManifestPath(const std::string& run_dir) {
  return JoinPath(run_dir, "manifest.json");
}

}  // namespace

// A job that is started again and again under one --allow asks for the same.
void AddAllowed(Manifest& manifest, const Manifest::Allowed& allowed) {
  for (Manifest::Allowed there : manifest.allowed) {
    there.step = allowed.step;
    if (there == allowed) return;
  }
  manifest.allowed.push_back(allowed);
}

std::string ManifestToJson(const Manifest& m) {
  OrderedJson json;
  json["format_version"] = m.format_version;
  json["run_id"] = m.run_id;
  json["lineage"] = m.lineage;
  json["parent"] = {{"run_id", m.parent.run_id},
                    {"lineage", m.parent.lineage},
                    {"step", m.parent.step},
                    {"checkpoint", m.parent.checkpoint},
                    {"checkpoint_sha256", m.parent.checkpoint_sha256},
                    {"ledger_head", m.parent.ledger_head}};
  json["created_ms"] = m.created_ms;
  json["guarantee"] = NameOf(m.guarantee);
  json["root_seed"] = m.root_seed;
  json["code"] = {{"commit", m.code.commit},
                  {"dirty", m.code.dirty},
                  {"binary_sha256", m.code.binary_sha256},
                  {"stamped", m.code.stamped}};
  json["recipe"] = {{"name", m.recipe.name},
                    {"trajectory", m.recipe.trajectory},
                    {"full", m.recipe.full},
                    {"trajectory_text", m.recipe.trajectory_text},
                    {"text", m.recipe.text}};
  json["order"] = m.order;
  json["schedule_length_samples"] = m.schedule_length_samples;
  json["data"] = DataToJson(m.data);
  json["working_dir"] = m.working_dir;
  json["tokenizer"] = {{"name", m.tokenizer.name}, {"hash", m.tokenizer.hash}};
  json["layout"] = LayoutToJson(m.layout);
  json["compiler"] = m.compiler;
  json["libraries"] = m.libraries;
  json["image_digest"] = m.image_digest;
  json["hardware"] = m.hardware;
  json["ledger_head"] = m.ledger_head;
  json["faults"] = m.faults;
  if (m.allowed_since) json["allowed_since"] = *m.allowed_since;
  json["allowed"] = AllowedToJson(m.allowed);
  return SealJson(json);
}

absl::Status WriteManifest(FileSystem& file_system, const std::string& run_dir,
                           const Manifest& manifest) {
  return WriteFileAtomically(file_system, ManifestPath(run_dir),
                             ManifestToJson(manifest));
}

absl::StatusOr<Manifest> ReadManifest(FileSystem& file_system,
                                      const std::string& run_dir) {
  const std::string path = ManifestPath(run_dir);
  LS_ASSIGN_OR_RETURN(const std::string text,
                      ReadBounded(file_system, path, kMostJsonBytes));
  return ManifestFromJson(text, path);
}

}  // namespace lockstep
