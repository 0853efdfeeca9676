#include "tools/status.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "ckpt/run_lock.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tools/foreign_json.h"
#include "tools/launches.h"
#include "tools/status_ranks.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// Longer than any line of metrics.jsonl.
constexpr uint64_t kTailBytes = 1 << 16;

// The end of a file that may be growing; "" where there is none.
std::string Tail(FileSystem& fs, const std::string& path) {
  const auto file = fs.OpenRead(path);
  if (!file.ok()) return "";
  const uint64_t size = (*file)->Size();
  std::string text(std::min(size, kTailBytes), '\0');
  const absl::Status read =
      (*file)->ReadAt(size - text.size(), text.size(), text.data());
  return read.ok() ? text : "";
}

// Files of /proc tell no size, so they are read as a stream.
std::string ReadStream(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void AddManifest(const Manifest& m, Json& json) {
  json["run_id"] = m.run_id;
  json["lineage"] = m.lineage;
  json["parent"] = nullptr;
  if (!m.parent.run_id.empty()) {
    json["parent"] = {{"run_id", m.parent.run_id},
                      {"lineage", m.parent.lineage},
                      {"step", m.parent.step},
                      {"checkpoint", m.parent.checkpoint}};
  }
  json["recipe"] = m.recipe.name;
  json["guarantee"] = NameOf(m.guarantee);
}

void AddLayout(const Manifest& m, Json& json) {
  json["layout"] = {{"world", m.layout.world},
                    {"data", m.layout.data},
                    {"tensor", m.layout.tensor},
                    {"pipeline", m.layout.pipeline},
                    {"micro_batch", m.layout.micro_batch},
                    {"threads", m.layout.threads}};
}

void AddProgress(FileSystem& fs, const std::string& dir, const Manifest& m,
                 Json& json) {
  const Json line = LastLine(Tail(fs, dir + "/metrics.jsonl"));
  json["step"] = m.parent.step;
  json["steps"] = nullptr;
  if (const auto step = WholeField(line, "step")) json["step"] = *step;
  for (const char* name : {"loss", "tokens_per_s", "mfu"}) {
    const auto number = NumberField(line, name);
    json[name] = number ? Json(*number) : Json(nullptr);
  }
  const auto config = ConfigOfManifest(m, dir + "/manifest.json");
  if (config.ok()) json["steps"] = config->Steps();
}

// Spikes are easily overlooked where they only take a step's update away.
void AddSpikes(const LedgerReport& ledger, Json& json) {
  const Json none = {{"count", 0}, {"skipped", 0}, {"last", nullptr}};
  int64_t count = 0, skipped = 0;
  json["spikes"] = none;
  for (const LedgerEntry& entry : ledger.entries) {
    const bool skip = entry.event == "skip" && entry.Field("reason") == "spike";
    if (entry.event == "launch") {  // every step is made again
      count = skipped = 0;
      json["spikes"] = none;
    }
    if (!skip && entry.event != "spike") continue;
    const auto fields = ParseForeign<Json>(entry.line);
    Json last = {{"skipped", skip}};
    for (const char* name : {"step", "what", "value", "median", "limit"}) {
      if (fields.contains(name)) last[name] = fields[name];
    }
    json["spikes"] = {{"count", ++count},
                      {"skipped", skipped += skip ? 1 : 0},
                      {"last", last}};
  }
}

// What the launches of a run change: its length, its layout; and its last word.
// Returns whether that is "stop".
bool AddLedger(const LedgerReport& ledger, Json& json) {
  for (const LedgerEntry& entry : ledger.entries) {
    const auto fields = ParseForeign<Json>(entry.line);
    if (const auto steps = WholeField(fields, "steps")) json["steps"] = *steps;
    if (const auto threads = WholeField(fields, "threads")) {
      json["layout"]["threads"] = *threads;
    }
  }
  json["last_event"] = nullptr;
  if (ledger.entries.empty()) return false;
  auto last = ParseForeign<Json>(ledger.entries.back().line);
  if (!last.is_object()) last = {{"event", ledger.entries.back().event}};
  for (const char* name : {"prev", "sum"}) last.erase(name);
  json["last_event"] = last;
  return ledger.entries.back().event == "stop";
}

// The last launch's or resume's line; without any, as none has.
LedgerEntry LastStart(const LedgerReport& ledger) {
  LedgerEntry last;
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.event == "launch" || entry.event == "resume") last = entry;
  }
  return last;
}

// The newest one whose index and sizes hold; damaged newer ones are told.
absl::Status AddCheckpoint(FileSystem& fs, const std::string& dir,
                           const std::string& run_id, Json& json) {
  json["checkpoint"] = nullptr;
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, dir));
  for (auto c = checkpoints.rbegin(); c != checkpoints.rend(); ++c) {
    if (c->complete && c->run_id == run_id) {
      json["checkpoint"] = {
          {"step", c->step}, {"dir", c->dir}, {"bytes", c->size_bytes}};
      return absl::OkStatus();
    }
    json["problems"].push_back(absl::StrCat(
        c->name, ": ",
        c->complete ? "belongs to run " + c->run_id : std::string(c->why)));
  }
  return absl::OkStatus();
}

void AddTrainer(FileSystem& fs, const std::string& dir, bool ended,
                Json& json) {
  const std::string path = dir + "/lock";
  struct stat info = {};
  const uint64_t inode = stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  const auto text = fs.ReadFile(path);
  const TrainerStatus trainer =
      JudgeLock(text.ok() ? *text : "", ThisProcess().host, ended,
                ReadStream("/proc/locks"), inode);
  json["trainer"] = {{"state", NameOf(trainer.state)},
                     {"pid", trainer.pid},
                     {"host", trainer.host},
                     {"generation", trainer.generation},
                     {"since_ms", trainer.since_ms}};
}

}  // namespace

absl::StatusOr<Json> RunStatus(FileSystem& fs, const std::string& run_dir) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, run_dir));
  Json json;
  json["run"] = run_dir;
  json["problems"] = Json::array();
  AddManifest(manifest, json);
  AddProgress(fs, run_dir, manifest, json);
  // The last launch's, which may have gone on on another.
  const auto launch = LaunchOfStep(fs, run_dir, INT64_MAX);
  AddLayout(launch.ok() && *launch ? (*launch)->manifest : manifest, json);
  LS_RETURN_IF_ERROR(AddCheckpoint(fs, run_dir, manifest.run_id, json));
  bool ended = false;
  const auto ledger = ReadLedger(fs, run_dir);
  if (ledger.ok()) {
    ended = AddLedger(*ledger, json);
    AddSpikes(*ledger, json);
  } else {
    json["last_event"] = nullptr;
    json["problems"].push_back(std::string(ledger.status().message()));
  }
  AddTrainer(fs, run_dir, ended, json);
  const LedgerEntry start = ledger.ok() ? LastStart(*ledger) : LedgerEntry();
  json["ranks"] =
      LastWordsOf(fs, run_dir, start.time_ms, start.Field("attempt"));
  return json;
}

}  // namespace lockstep
