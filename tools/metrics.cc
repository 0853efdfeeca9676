#include "tools/metrics.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

void AddReal(Json& json, const char* name, double value) {
  json[name] = value;
  json[absl::StrCat(name, "_bits")] = BitsOf(value);
}

// Splits the file into the lines to keep and the rest. A line counts when it is
// complete, parses, and its step is at most `last_step`.
size_t KeptBytes(const std::string& text, int64_t last_step) {
  size_t kept = 0;
  while (kept < text.size()) {
    const size_t end = text.find('\n', kept);
    if (end == std::string::npos) break;
    const Json line =
        Json::parse(text.substr(kept, end - kept), nullptr, false);
    if (line.is_discarded() || !line.is_object()) break;
    const auto step = line.find("step");
    if (step == line.end() || !step->is_number_integer()) break;
    if (step->get<int64_t>() > last_step) break;
    kept = end + 1;
  }
  return kept;
}

std::string FreeName(FileSystem& fs, const std::string& path) {
  for (int i = 1;; ++i) {
    std::string name = absl::StrCat(path, ".abandoned-", i);
    if (!fs.Exists(name)) return name;
  }
}

absl::Status MoveTailAside(FileSystem& fs, const std::string& path,
                           const std::string& text, size_t kept,
                           AbandonedTail* abandoned) {
  const std::string tail = text.substr(kept);
  abandoned->moved_to = FreeName(fs, path);
  for (const char c : tail) abandoned->lines += c == '\n';
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, abandoned->moved_to, tail));
  return WriteFileAtomically(fs, path, text.substr(0, kept));
}

}  // namespace

std::string BitsOf(double value) {
  return absl::StrFormat("%016x", std::bit_cast<uint64_t>(value));
}

std::string MetricsLine(const StepReport& r) {
  Json json;
  json["step"] = r.step;
  json["updates"] = r.updates;
  json["skipped"] = r.skipped;
  json["samples_seen"] = r.samples_seen;
  json["tokens_seen"] = r.tokens_seen;
  json["sample_first"] = r.sample_first;
  json["sample_last"] = r.sample_last;
  json["valid_tokens"] = r.valid_tokens;
  AddReal(json, "loss", r.loss);
  AddReal(json, "lm_loss", r.lm_loss);
  json["load_balance_loss"] = nullptr;
  json["mtp_loss"] = nullptr;
  AddReal(json, "grad_norm", r.grad_norm);
  AddReal(json, "grad_norm_clipped", r.grad_norm_clipped);
  AddReal(json, "lr", r.lr);
  json["loss_scale"] = r.loss_scale;
  json["step_ms"] = r.step_ms;
  json["tokens_per_s"] = r.tokens_per_s;
  json["mfu"] = r.mfu;
  if (!r.overflowed.empty()) json["grid_overflow"] = r.overflowed;
  if (!r.below_grid.empty()) json["below_grid"] = r.below_grid;
  if (r.spike) json["spike"] = r.spike->what;
  if (!r.fingerprint.empty()) json["fingerprint"] = r.fingerprint;
  return json.dump();
}

absl::StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Open(
    FileSystem& fs, const std::string& path, int64_t last_step,
    AbandonedTail* abandoned) {
  if (fs.Exists(path)) {
    LS_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
    const size_t kept = KeptBytes(text, last_step);
    abandoned->kept = std::count(
        text.begin(), text.begin() + static_cast<ptrdiff_t>(kept), '\n');
    if (kept < text.size()) {
      LS_RETURN_IF_ERROR(MoveTailAside(fs, path, text, kept, abandoned));
    }
  }
  LS_ASSIGN_OR_RETURN(auto file, fs.OpenAppend(path));
  return std::unique_ptr<MetricsFile>(new MetricsFile(std::move(file)));
}

absl::Status MetricsFile::Append(const std::string& line) {
  LS_RETURN_IF_ERROR(file_->Append(line + "\n"));
  return file_->Flush();
}

}  // namespace lockstep
