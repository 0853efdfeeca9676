#include "tools/step_memory.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "tools/rank_costs.h"

namespace lockstep {
namespace {

constexpr double kFp32 = 4;

double Of(int64_t count) { return static_cast<double>(count); }

// Index, ids, mask and, with resets, the document of each token.
double SampleBytes(const RunConfig& c) {
  const double segments = c.data.reset_at_documents ? 4 : 0;
  return 8 + 4 * (Of(c.data.sequence) + 1) +
         (1 + segments) * Of(c.data.sequence);
}

std::string BatchKey(const RunConfig& c) {
  return c.batch.schedule.empty() ? "batch.global" : "batch.schedule";
}

}  // namespace

absl::StatusOr<std::vector<MemoryPart>> StepMemory(const RunConfig& c,
                                                   int64_t ranks_here) {
  LS_ASSIGN_OR_RETURN(const MemoryRange ranks, MemoryOfRanks(c));
  const RankMemory& rank = ranks.largest;
  const double samples = Of(LargestBatch(c)) / Of(c.parallel.data.value_or(1));
  const double losses = kFp32 * Of(c.data.sequence);
  const int64_t ahead = c.data.prefetch_threads > 0 ? c.data.prefetch : 0;
  std::vector<MemoryPart> parts = {
      {"model", "parameters and their state", rank.lasting()},
      {BatchKey(c),
       absl::StrCat("samples of a step and of ", ahead,
                    " read ahead (data.prefetch)"),
       samples * (SampleBytes(c) * Of(1 + ahead) + losses)},
      {"batch.micro", "activations of the micro-batches in flight",
       rank.activations + rank.communication}};
  if (c.checkpoint.async && c.checkpoint.every > 0) {
    // Of the masters as well; the formula has the moments alone.
    parts.push_back({"checkpoint.async", "the copy of it that a save writes",
                     1.5 * rank.state});
  }
  if (ranks_here > 1) {
    parts.push_back({"model",
                     absl::StrCat("parameters and state of ", ranks_here - 1,
                                  " more ranks of this machine"),
                     Of(ranks_here - 1) * ranks.least_lasting});
  }
  return parts;
}

absl::Status CheckMemory(const RunConfig& config, int64_t memory_bytes,
                         int64_t ranks_here) {
  LS_ASSIGN_OR_RETURN(const std::vector<MemoryPart> parts,
                      StepMemory(config, ranks_here));
  double needed = 0;
  std::string list;
  for (const MemoryPart& part : parts) {
    needed += part.bytes;
    absl::StrAppendFormat(&list, "%s%s %.0f (%s)", list.empty() ? "" : ", ",
                          part.what, part.bytes, part.key);
  }
  if (memory_bytes <= 0 || needed < Of(memory_bytes)) return absl::OkStatus();
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const MemoryPart& a, const MemoryPart& b) {
        return a.bytes < b.bytes;
      });
  return InputError(
      absl::StrFormat("a step needs at least %.0f bytes, and there are %d "
                      "bytes of memory",
                      needed, memory_bytes),
      absl::StrCat(largest->key, "; bytes: ", list),
      absl::StrCat("lower ", largest->key));
}

std::string OversizedBatch(const RunConfig& config, int64_t epoch_samples) {
  constexpr int64_t kMany = 8;
  const int64_t batch = LargestBatch(config);
  const int64_t passes = batch / std::max<int64_t>(epoch_samples, 1);
  if (passes < kMany) return "";
  return absl::StrCat(BatchKey(config), ": a step takes ", batch, " samples, ",
                      batch * config.data.sequence,
                      " tokens, and the data have ", epoch_samples,
                      " samples: each step reads them ", passes, " times over");
}

}  // namespace lockstep
