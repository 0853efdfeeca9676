#include "tools/bench/trace_records.h"

#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

constexpr int kLayers = 32;
constexpr std::array<const char*, 8> kOperations = {
    "in_proj",  "conv1d",   "ssd_scan",  "norm",
    "out_proj", "qkv_proj", "attention", "o_proj"};
constexpr std::array<Phase, 2> kPhases = {Phase::kForward, Phase::kBackward};
constexpr int64_t kMicroBatches = 8;

TensorRef Ref(const char* name, std::array<float, 4>& values) {
  return {
      .name = name, .dtype = DType::kF32, .shape = {4}, .data = values.data()};
}

}  // namespace

absl::Status WriteTraceRecords(FileSystem& fs, const std::string& folder,
                               int64_t records, int64_t other_from) {
  LS_RETURN_IF_ERROR(fs.MakeDirs(folder));
  LS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceWriter> writer,
      TraceWriter::Open(fs, folder + "/rank_0.step_00000000.trace", 0,
                        {.level = TraceLevel::kOperation, .inputs = true}));
  const KernelRun kernel = {
      .kernel = "matmul", .variant = "avx512", .calls = 1};
  int64_t written = 0;
  for (int64_t step = 1; written < records; ++step) {
    for (int64_t place = 0;
         place < kMicroBatches * 2 * kLayers * int64_t{kOperations.size()};
         ++place, ++written) {
      const int64_t layer = place / int64_t{kOperations.size()} % kLayers;
      const int64_t half = place / (int64_t{kOperations.size()} * kLayers);
      const bool other = other_from >= 0 && written >= other_from;
      const auto value = static_cast<float>(other ? -1 - written : written);
      std::array<float, 4> x = {value}, weight = {value, 1}, y = {value, 2};
      const TensorRef inputs[] = {Ref("x", x), Ref("weight", weight)};
      const TensorRef output = Ref("y", y);
      const std::string scope = absl::StrCat("layers.", layer, ".mixer");
      const auto sample = static_cast<uint64_t>(half / 2);
      writer->OnOperation({.step = step,
                           .phase = kPhases[static_cast<size_t>(half % 2)],
                           .scope = scope,
                           .operation = kOperations[static_cast<size_t>(
                               place % int64_t{kOperations.size()})],
                           .micro_batch = half / 2,
                           .first_sample = sample,
                           .inputs = inputs,
                           .outputs = {&output, 1},
                           .sample_ids = {&sample, 1},
                           .kernels = {&kernel, 1}});
    }
    LS_RETURN_IF_ERROR(writer->RecordFields(step, 0, {{"loss", "0"}}));
  }
  return writer->Close();
}

}  // namespace lockstep
