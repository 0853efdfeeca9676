#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/prepare.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"
#include "tools/bench/scratch.h"

namespace lockstep {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kRounds = 3;

absl::Status ReadAndHash(FileSystem& fs, const std::string& path) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.OpenRead(path));
  std::string buffer(kMiB, '\0');
  Sha256 hash;
  for (uint64_t from = 0; from < file->Size(); from += kMiB) {
    const size_t bytes = std::min(kMiB, file->Size() - from);
    LS_RETURN_IF_ERROR(file->ReadAt(from, bytes, buffer.data()));
    hash.Update(buffer.data(), bytes);
  }
  return hash.Hex().empty() ? absl::InternalError("") : absl::OkStatus();
}

// What preparation leaves of `bytes` of text: two bytes each, on the device.
absl::Status WriteAndSync(FileSystem& fs, const std::string& path,
                          uint64_t bytes) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.Create(path));
  const std::string block(kMiB, 'x');
  for (uint64_t written = 0; written < 2 * bytes; written += block.size()) {
    LS_RETURN_IF_ERROR(file->Append(block));
  }
  LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

double PeakMiB() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

BenchCase CaseOf(const std::string& name, double mb,
                 const PairedSeconds& seconds) {
  BenchCase result = {.name = name,
                      .threads = 2,  // one of them hashes
                      .rate = mb / seconds.first,
                      .unit = "MB/s",
                      .probe = mb / seconds.second,
                      .peer = "",
                      .peer_ratio = 0};
  result.ratio = result.rate / result.probe;
  return result;
}

// Prepares `bytes` of text, in turns with each probe; the process's peak memory
// so far is appended.
absl::Status Measure(const Scratch& scratch, uint64_t bytes,
                     std::vector<BenchCase>& cases,
                     std::vector<double>& peaks) {
  FileSystem& fs = *PosixFileSystem();
  const std::string text = scratch / "text";
  LS_RETURN_IF_ERROR(WriteBenchText(fs, text, bytes));
  LS_ASSIGN_OR_RETURN(const auto tokenizer, MakeTokenizer("byte"));
  PrepareOptions prepare = {.inputs = {text},
                            .output_prefix = scratch / "tokens",
                            .tokenizer = tokenizer.get(),
                            .document_bytes = 4096};
  absl::Status status;
  const auto work = [&] { status.Update(PrepareTokens(fs, prepare).status()); };
  const PairedSeconds hashed =
      InTurns(kRounds, work, [&] { status.Update(ReadAndHash(fs, text)); });
  const PairedSeconds written = InTurns(kRounds, work, [&] {
    status.Update(WriteAndSync(fs, scratch / "written", bytes));
  });
  LS_RETURN_IF_ERROR(status);
  peaks.push_back(PeakMiB());
  const double mb = static_cast<double>(bytes) * 1e-6;
  const std::string name = absl::StrCat("bytes, ", bytes / kMiB, " MiB");
  cases.push_back(CaseOf(name, mb, hashed));
  cases.push_back(CaseOf(name + ", to writing", mb, written));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchPrepare(
    const BenchOptions& options) {
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  std::vector<double> peaks;
  std::vector<BenchCase> cases;
  for (const uint64_t mib : {64, 256}) {
    LS_RETURN_IF_ERROR(Measure(scratch, mib * kMiB, cases, peaks));
  }
  // Four times the text; the smaller one's peak is the probe.
  cases.push_back({.name = "peak memory of 256 MiB against 64",
                   .rate = peaks[1],
                   .unit = "MiB",
                   .probe = peaks[0],
                   .ratio = peaks[1] / peaks[0]});
  return cases;
}

}  // namespace lockstep
