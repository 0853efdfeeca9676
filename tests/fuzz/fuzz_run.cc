// What stands in a run's folder.
//
// Sealed files are also sealed anew where they are JSON objects, since a seal
// hides all fields from a fuzzer that knows nothing of SHA-256.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "ckpt/manifest_compare.h"
#include "ckpt/run_lock.h"
#include "ckpt/safetensors.h"
#include "ckpt/safetensors_header.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify.h"
#include "determinism/clock.h"
#include "determinism/trace_writer.h"
#include "tests/fuzz/fuzz_entries.h"
#include "tests/fuzz/fuzz_file.h"
#include "tools/compare/spread_file.h"
#include "tools/diff/metric_lines.h"
#include "tools/launch/failure.h"
#include "tools/metrics.h"
#include "tools/recorded_steps.h"
#include "tools/run_faults.h"
#include "tools/status.h"
#include "tools/status_ranks.h"

namespace lockstep {
namespace {

// As it is, and under a seal that holds.
std::vector<std::string> SealedToo(std::string_view bytes) {
  std::vector<std::string> texts = {std::string(bytes)};
  OrderedJson json = OrderedJson::parse(bytes, nullptr, false);
  if (!json.is_object()) return texts;
  json.erase("sha256");
  if (!json.empty()) texts.push_back(SealJson(json));
  return texts;
}

}  // namespace

void FuzzSafetensors(std::string_view bytes) {
  const auto header = ParseSafetensorsHeader(bytes, bytes.size());
  if (header.ok()) {
    Use(MakeSafetensorsHeader(header->entries, header->metadata));
  }
  MemoryFileSystem fs;
  PutFile(fs, "/a.safetensors", bytes);
  const auto file = SafetensorsFile::Open(fs, "/a.safetensors");
  if (file.ok()) Use((*file)->entries());
  Use(ParseSafetensorsHeader(bytes, uint64_t{1} << 40));
}

void FuzzManifest(std::string_view bytes) {
  for (const std::string& text : SealedToo(bytes)) {
    const auto manifest = ManifestFromJson(text, "manifest.json");
    if (!manifest.ok()) continue;
    Use(ManifestToJson(*manifest));
    Use(CompareManifests(*manifest, Manifest(), Guarantee::kBitwise));
  }
}

void FuzzIndex(std::string_view bytes) {
  for (const std::string& text : SealedToo(bytes)) {
    const auto index = IndexFromJson(text, "index.json");
    if (!index.ok()) continue;
    Use(IndexToJson(*index));
    Use(ShowCheckpoint(*index));
    MemoryFileSystem fs;
    PutFile(fs, "/c/step_00000004/index.json", text);
    Use(VerifyCheckpoint(fs, "/c/step_00000004"));
    Use(ListCheckpoints(fs, "/"));
  }
}

// The file as it is; and its lines as if their checks of themselves held.
void FuzzLedger(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/run/ledger.jsonl", bytes);
  Use(ReadLedger(fs, "/run"));
  ManualClock clock;
  Use(Ledger::Open(fs, "/run", clock, nullptr));
  for (const auto line :
       absl::StrSplit(absl::string_view(bytes.data(), bytes.size()), '\n')) {
    LedgerEntry entry;
    entry.line.assign(line.data(), line.size());
    for (const char* field : {"step", "bits", "differences"}) {
      Use(entry.Field(field));
    }
  }
}

void FuzzLock(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/run/lock", bytes);
  ManualClock clock;
  MemoryFileLocker locker;
  {
    const auto lock = RunLock::Acquire(fs, locker, "/run", {1, "h"}, clock);
    if (lock.ok()) Use((*lock)->CheckStillHolder());
  }
  Use(JudgeLock(std::string(bytes), "h", false, "1: FLOCK ADVISORY WRITE 1 :7",
                7));
}

// Two files of which one is fuzzed, read by all that reads such lines.
void FuzzMetrics(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/a/metrics.jsonl", bytes);
  StepReport report;
  report.step = 1;
  PutFile(fs, "/b/metrics.jsonl", MetricsLine(report) + "\n");
  const auto steps = RecordedSteps::Read(fs, "/a");
  if (steps.ok() && steps->last() > 0) {
    Use(steps->Loss(steps->last()));
    Use(steps->Count(steps->last(), "samples_seen"));
    report.step = steps->last();
    Use(steps->Differences(report));
  }
  Use(CompareMetricLines(fs, "/a/metrics.jsonl", "/b/metrics.jsonl"));
  Use(LastLine(bytes));
  AbandonedTail tail;
  Use(MetricsFile::Open(fs, "/a/metrics.jsonl", 2, &tail));
}

// Last words of ranks, faults that were kept, and what mpirun said.
void FuzzRunNotes(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/run/ranks/0.json", bytes);
  PutFile(fs, "/run/faults.json", bytes);
  Use(LastWordsOf(fs, "/run", 0, ""));
  Use(ReadRankWords(fs, "/run", 0, "1.2.3"));
  Use(KeptFaults(fs, "/run"));
  Use(KeepFaults(fs, "/run", 4, {"kind=sleep,ms=1"}));
  Use(ReadMpirun(std::string(bytes)));
}

void FuzzSpread(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/spread.json", bytes);
  const auto spread = ReadSpread(fs, "/spread.json");
  if (!spread.ok()) return;
  Use(SpreadJson(*spread));
  Use(KeysOtherThan(*spread, Manifest()));
}

void FuzzTrace(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/a.trace", bytes);
  Use(ReadTrace(fs, "/a.trace"));
}

}  // namespace lockstep
