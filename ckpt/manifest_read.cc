// Reading a manifest back, field by field.

#include <string>
#include <string_view>
#include <vector>

#include "ckpt/manifest.h"
#include "ckpt/sealed_json.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// A part of the manifest, and what is wrong with it ("" if nothing).
using Error = std::string;

Error ReadCode(const OrderedJson& json, Manifest::Code& code) {
  JsonFields fields(json, "code");
  fields.Get("commit", code.commit);
  fields.Get("dirty", code.dirty);
  fields.Get("binary_sha256", code.binary_sha256);
  fields.Get("stamped", code.stamped);
  return fields.error();
}

Error ReadRecipe(const OrderedJson& json, Manifest::RecipeIdentity& recipe) {
  JsonFields fields(json, "recipe");
  fields.Get("name", recipe.name);
  fields.Get("text", recipe.text);
  fields.Get("trajectory_text", recipe.trajectory_text);
  fields.Get("trajectory", recipe.trajectory);
  fields.Get("full", recipe.full);
  return fields.error();
}

Error ReadLayout(const OrderedJson& json, Manifest::Layout& layout) {
  JsonFields fields(json, "layout");
  fields.Get("world", layout.world);
  fields.Get("data", layout.data);
  fields.Get("tensor", layout.tensor);
  fields.Get("pipeline", layout.pipeline);
  fields.Get("micro_batch", layout.micro_batch);
  fields.Get("threads", layout.threads);
  return fields.error();
}

Error ReadData(const OrderedJson& json, std::vector<Manifest::DataFile>& data) {
  for (const OrderedJson& item : json) {
    JsonFields fields(item, "data[" + std::to_string(data.size()) + "]");
    Manifest::DataFile& file = data.emplace_back();
    fields.Get("path", file.path);
    fields.Get("size", file.size);
    fields.Get("sha256", file.sha256);
    if (!fields.ok()) return fields.error();
  }
  return "";
}

Error ReadAllowed(const OrderedJson& json,
                  std::vector<Manifest::Allowed>& allowed) {
  for (const OrderedJson& item : json) {
    JsonFields fields(item, "allowed[" + std::to_string(allowed.size()) + "]");
    Manifest::Allowed& a = allowed.emplace_back();
    fields.Get("key", a.key);
    fields.Get("saved", a.saved);
    fields.Get("current", a.current);
    fields.Get("reason", a.reason);
    fields.Get("step", a.step);
    if (!fields.ok()) return fields.error();
  }
  return "";
}

Error ReadParent(const OrderedJson& json, Manifest::Parent& parent) {
  JsonFields fields(json, "parent");
  fields.Get("run_id", parent.run_id);
  fields.Get("step", parent.step);
  fields.Get("checkpoint_sha256", parent.checkpoint_sha256);
  fields.GetIfThere("lineage", parent.lineage);
  fields.GetIfThere("checkpoint", parent.checkpoint);
  fields.GetIfThere("ledger_head", parent.ledger_head);
  return fields.error();
}

Error ReadTokenizer(const OrderedJson& json, Manifest::Tokenizer& tokenizer) {
  JsonFields fields(json, "tokenizer");
  fields.Get("name", tokenizer.name);
  fields.Get("hash", tokenizer.hash);
  return fields.error();
}

void ReadPlainFields(JsonFields& fields, Manifest& m) {
  std::string guarantee;
  fields.Get("run_id", m.run_id);
  m.lineage = m.run_id;  // of a manifest that is older than the field
  fields.GetIfThere("lineage", m.lineage);
  fields.Get("created_ms", m.created_ms);
  fields.Get("guarantee", guarantee);
  fields.Get("root_seed", m.root_seed);
  fields.Get("order", m.order);
  fields.Get("schedule_length_samples", m.schedule_length_samples);
  fields.Get("compiler", m.compiler);
  fields.Get("libraries", m.libraries);
  fields.Get("image_digest", m.image_digest);
  fields.Get("hardware", m.hardware);
  fields.Get("ledger_head", m.ledger_head);
  fields.Get("faults", m.faults);
  const absl::StatusOr<Guarantee> parsed = GuaranteeFromName(guarantee);
  if (parsed.ok()) {
    m.guarantee = *parsed;
  } else if (fields.ok()) {
    fields.Complain("has the unknown guarantee \"" + guarantee + "\"");
  }
}

Error ReadAll(const OrderedJson& json, Manifest& m) {
  JsonFields fields(json, "manifest");
  fields.Get("format_version", m.format_version);
  if (fields.ok() && m.format_version > Manifest::kFormatVersion) {
    fields.Complain("has format_version " + std::to_string(m.format_version) +
                    ", and this program knows up to " +
                    std::to_string(Manifest::kFormatVersion));
  }
  ReadPlainFields(fields, m);
  // Added after the first manifests were written.
  if (json.contains("working_dir")) fields.Get("working_dir", m.working_dir);
  if (json.contains("allowed_since")) {
    fields.Get("allowed_since", m.allowed_since.emplace());
  }
  if (json.contains("allowed")) {
    const Error error = ReadAllowed(fields.Array("allowed"), m.allowed);
    if (!error.empty()) fields.Complain("is not whole: " + error);
  }
  for (const Error& error :
       {ReadParent(fields.Object("parent"), m.parent),
        ReadCode(fields.Object("code"), m.code),
        ReadRecipe(fields.Object("recipe"), m.recipe),
        ReadData(fields.Array("data"), m.data),
        ReadTokenizer(fields.Object("tokenizer"), m.tokenizer),
        ReadLayout(fields.Object("layout"), m.layout)}) {
    if (!error.empty()) fields.Complain("is not whole: " + error);
  }
  return fields.error();
}

}  // namespace

absl::StatusOr<Manifest> ManifestFromJson(std::string_view text,
                                          std::string_view where) {
  constexpr char kTodo[] =
      "restore the file from a checkpoint's manifest.json, which is a copy";
  absl::StatusOr<OrderedJson> json = OpenSealedJson(text);
  if (!json.ok()) {
    return ManifestMismatch(
        "the manifest " + std::string(json.status().message()), where, kTodo);
  }
  Manifest manifest;
  const Error error = ReadAll(*json, manifest);
  if (!error.empty()) {
    return ManifestMismatch(error, where, kTodo);
  }
  return manifest;
}

}  // namespace lockstep
