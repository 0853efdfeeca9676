#include "tools/step_memory.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/dtype.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr double kFp32 = 4;

double Of(int64_t count) { return static_cast<double>(count); }

// Elements that backward needs of one token, all layers together: in the
// storage dtype, and in fp32.
struct TokenActivations {
  double storage = 0;
  double fp32 = 0;
};

TokenActivations OfLayer(const ModelConfig& m, LayerKind kind) {
  // The residual that came in and its norm.
  TokenActivations a = {2 * Of(m.hidden), 1};
  switch (kind) {
    case LayerKind::kMamba2:
      a.storage += Of(m.in_proj_rows()) + Of(m.conv_channels()) + Of(m.inner());
      // dt and its sums, and one state a chunk.
      a.fp32 += 2 * Of(m.mamba_heads) +
                Of(m.inner()) * Of(m.state) / std::max(Of(m.chunk), 1.0);
      break;
    case LayerKind::kAttention:
      a.storage += Of(m.qkv_rows()) + Of(m.q_rows());
      a.fp32 += Of(m.heads);
      break;
    case LayerKind::kMlp:
      a.storage += Of(m.ffn);
      break;
  }
  return a;
}

double ActivationBytes(const RunConfig& c) {
  const double storage = Of(SizeOf(c.precision.storage()));
  double bytes = 0, largest = 0;
  for (const LayerKind kind : c.model.Layers()) {
    const TokenActivations a = OfLayer(c.model, kind);
    const double layer = a.storage * storage + a.fp32 * kFp32;
    largest = std::max(largest, layer);
    bytes += c.train.recompute ? Of(c.model.hidden) * storage : layer;
  }
  if (c.train.recompute) bytes += largest;
  return bytes * Of(c.batch.micro) * Of(c.data.sequence);
}

// The depthwise convolution's gradients stand apart by leaf until they are
// added, a layer at a time.
double LeafBytes(const RunConfig& c) {
  if (!c.model.Has(LayerKind::kMamba2)) return 0;
  const double leaves = Of(c.batch.micro) / std::max(Of(c.grid.leaf), 1.0);
  return leaves * Of(c.model.conv_channels()) * Of(c.model.conv + 1) * kFp32;
}

int64_t LargestBatch(const RunConfig& c) {
  const std::vector<int64_t> sizes = c.batches.sizes();
  return *std::max_element(sizes.begin(), sizes.end());
}

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

std::vector<MemoryPart> StepMemory(const RunConfig& c) {
  // Gradients in fp32, beside them the integers of the grid, and the run-time
  // weights; masters and two moments of what a rank owns. Per rank, at least.
  const double model_ranks = Of(c.parallel.tensor * c.parallel.pipeline);
  const double data_ranks = Of(c.parallel.data.value_or(1));
  const double sums =
      kFp32 + (c.guarantee == Guarantee::kLayoutInvariant ? 8 : 0);
  const double a_parameter =
      (sums + Of(SizeOf(c.precision.storage())) + 3 * kFp32 / data_ranks) /
      model_ranks;
  const double batch = Of(LargestBatch(c));
  const double losses = kFp32 * Of(c.data.sequence);
  const int64_t ahead = c.data.prefetch_threads > 0 ? c.data.prefetch : 0;
  return {{"model", "parameters and their state",
           a_parameter * Of(ParameterCount(c.model))},
          {BatchKey(c),
           absl::StrCat("samples of a step and of ", ahead,
                        " read ahead (data.prefetch)"),
           batch / data_ranks * (SampleBytes(c) * Of(1 + ahead) + losses)},
          {"batch.micro", "activations of a micro-batch",
           (ActivationBytes(c) + LeafBytes(c)) / model_ranks}};
}

absl::Status CheckMemory(const RunConfig& config, int64_t memory_bytes) {
  const std::vector<MemoryPart> parts = StepMemory(config);
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
