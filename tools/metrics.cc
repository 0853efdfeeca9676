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

// The step of a line; -1: it has none.
int64_t StepOfLine(const std::string& text) {
  const Json line = Json::parse(text, nullptr, false);
  if (line.is_discarded() || !line.is_object()) return -1;
  const auto step = line.find("step");
  const bool has = step != line.end() && step->is_number_integer();
  return has ? step->get<int64_t>() : -1;
}

// Bytes to keep. A line counts when it is complete, has a step that is later
// than that of the line before, and at most `last_step`; `why` says what is
// wrong with the first that does not.
size_t KeptBytes(const std::string& text, int64_t last_step, std::string& why) {
  size_t kept = 0;
  for (int64_t number = 1, before = -1; kept < text.size(); ++number) {
    const std::string line = absl::StrCat("from line ", number, " on");
    const size_t end = text.find('\n', kept);
    const int64_t step =
        end == text.npos ? -1 : StepOfLine(text.substr(kept, end - kept));
    if (end == text.npos) {
      why = line + ", which is torn,";
    } else if (step < 0) {
      why = line + ", which tells of no step,";
    } else if (step <= before) {
      why = absl::StrCat(line, ", which tells of step ", step, " after step ",
                         before, ",");
    } else if (step > last_step) {
      why = absl::StrCat("beyond step ", last_step);
    } else {
      before = step;
      kept = end + 1;
      continue;
    }
    break;
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
  if (!tail.ends_with('\n')) ++abandoned->lines;
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
    const size_t kept = KeptBytes(text, last_step, abandoned->why);
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
