// Operations on rows of activations: 2048 tokens, bf16.
#include <functional>
#include <utility>

#include "model/kernels/cast/cast.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/embedding/embedding.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "model/kernels/squared_relu/squared_relu.h"
#include "tools/bench/kernel_work.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 2048;
constexpr int64_t kHidden = 768;
constexpr int64_t kInner = 1536;             // mamba_heads * mamba_head_dim
constexpr int64_t kConv = kInner + 2 * 512;  // x, b and c
constexpr int64_t kFfn = 3072;
constexpr int64_t kVocab = 16384;
constexpr DType kS = DType::kBF16;

std::function<void()> RmsForward(Device& device, WorkMemory& m) {
  RmsNormForwardArgs a = {
      .rows = kRows, .d = kHidden, .eps = 1e-5, .dtype = kS};
  a.x = m.Storage(kRows * kHidden);
  a.weight = m.Floats(kHidden, 0.5f, 1.5f);
  a.y = m.Storage(kRows * kHidden);
  a.rstd = m.Floats(kRows, 0.5f, 1.5f);
  a.x_row_stride = a.y_row_stride = kHidden;
  return [&device, a] { RmsNormForward(device, a); };
}

std::function<void()> RmsBackward(Device& device, WorkMemory& m) {
  RmsNormBackwardArgs a = {
      .rows = kRows, .d = kHidden, .rows_per_leaf = kRows, .dtype = kS};
  a.dy = m.Storage(kRows * kHidden);
  a.x = m.Storage(kRows * kHidden);
  a.rstd = m.Floats(kRows, 0.5f, 1.5f);
  a.weight = m.Floats(kHidden, 0.5f, 1.5f);
  a.dx = m.Storage(kRows * kHidden);
  a.dweight = m.Floats(kHidden, 0, 1);
  a.dy_row_stride = a.x_row_stride = a.dx_row_stride = kHidden;
  return [&device, a] { RmsNormBackward(device, a); };
}

std::function<void()> GatedForward(Device& device, WorkMemory& m) {
  GatedNormForwardArgs a = {
      .rows = kRows, .d = kInner, .groups = 4, .eps = 1e-5, .dtype = kS};
  a.y = m.Storage(kRows * kInner);
  a.z = m.Storage(kRows * kInner);
  a.weight = m.Floats(kInner, 0.5f, 1.5f);
  a.out = m.Storage(kRows * kInner);
  a.rstd = m.Floats(kRows * 4, 0.5f, 1.5f);
  a.y_row_stride = a.z_row_stride = a.out_row_stride = kInner;
  return [&device, a] { GatedNormForward(device, a); };
}

std::function<void()> GatedBackward(Device& device, WorkMemory& m) {
  GatedNormBackwardArgs a = {.rows = kRows,
                             .d = kInner,
                             .groups = 4,
                             .rows_per_leaf = kRows,
                             .dtype = kS};
  a.dout = m.Storage(kRows * kInner);
  a.y = m.Storage(kRows * kInner);
  a.z = m.Storage(kRows * kInner);
  a.rstd = m.Floats(kRows * 4, 0.5f, 1.5f);
  a.weight = m.Floats(kInner, 0.5f, 1.5f);
  a.dy = m.Storage(kRows * kInner);
  a.dz = m.Storage(kRows * kInner);
  a.dweight = m.Floats(kInner, 0, 1);
  a.dout_row_stride = a.y_row_stride = a.z_row_stride = kInner;
  a.dy_row_stride = a.dz_row_stride = kInner;
  return [&device, a] { GatedNormBackward(device, a); };
}

std::function<void()> ConvForward(Device& device, WorkMemory& m) {
  Conv1dSiluForwardArgs a = {
      .batch = 1, .tokens = kRows, .channels = kConv, .dtype = kS};
  a.x = m.Storage(kRows * kConv);
  a.weight = m.Floats(kConv * 4, -0.5f, 0.5f);
  a.bias = m.Floats(kConv, -0.5f, 0.5f);
  a.y = m.Storage(kRows * kConv);
  a.x_row_stride = a.y_row_stride = kConv;
  return [&device, a] { Conv1dSiluForward(device, a); };
}

std::function<void()> ConvBackward(Device& device, WorkMemory& m) {
  Conv1dSiluBackwardArgs a = {
      .batch = 1, .tokens = kRows, .channels = kConv, .dtype = kS};
  a.dy = m.Storage(kRows * kConv);
  a.x = m.Storage(kRows * kConv);
  a.weight = m.Floats(kConv * 4, -0.5f, 0.5f);
  a.bias = m.Floats(kConv, -0.5f, 0.5f);
  a.dx = m.Storage(kRows * kConv);
  a.dweight = m.Floats(kConv * 4, 0, 1);
  a.dbias = m.Floats(kConv, 0, 1);
  a.dy_row_stride = a.x_row_stride = a.dx_row_stride = kConv;
  return [&device, a] { Conv1dSiluBackward(device, a); };
}

std::function<void()> ReluForward(Device& device, WorkMemory& m) {
  SquaredReluForwardArgs a = {.rows = kRows, .d = kFfn, .dtype = kS};
  a.x = m.Storage(kRows * kFfn);
  a.y = m.Storage(kRows * kFfn);
  a.x_row_stride = a.y_row_stride = kFfn;
  return [&device, a] { SquaredReluForward(device, a); };
}

std::function<void()> ReluBackward(Device& device, WorkMemory& m) {
  SquaredReluBackwardArgs a = {.rows = kRows, .d = kFfn, .dtype = kS};
  a.dy = m.Storage(kRows * kFfn);
  a.x = m.Storage(kRows * kFfn);
  a.dx = m.Storage(kRows * kFfn);
  a.dy_row_stride = a.x_row_stride = a.dx_row_stride = kFfn;
  return [&device, a] { SquaredReluBackward(device, a); };
}

DropoutPosition Dropout() {
  static constexpr uint64_t kSample[] = {7};
  return {.p = 0.1, .seed = 1, .sample_ids = kSample, .tokens = kRows};
}

std::function<void()> DropoutForward(Device& device, WorkMemory& m) {
  ResidualDropoutForwardArgs a = {
      .rows = kRows, .d = kHidden, .dtype = kS, .dropout = Dropout()};
  a.x = m.Storage(kRows * kHidden);
  a.y = m.Storage(kRows * kHidden);
  a.out = m.Storage(kRows * kHidden);
  a.x_row_stride = a.y_row_stride = a.out_row_stride = kHidden;
  return [&device, a] { ResidualDropoutForward(device, a); };
}

std::function<void()> DropoutBackward(Device& device, WorkMemory& m) {
  ResidualDropoutBackwardArgs a = {
      .rows = kRows, .d = kHidden, .dtype = kS, .dropout = Dropout()};
  a.dres = m.Storage(kRows * kHidden);
  a.dy = m.Storage(kRows * kHidden);
  a.dres_row_stride = a.dy_row_stride = kHidden;
  return [&device, a] { ResidualDropoutBackward(device, a); };
}

// Bytes are those of the rows that are touched, not of the whole table.
std::function<void()> EmbedForward(Device& device, WorkMemory& m) {
  EmbeddingForwardArgs a = {
      .rows = kRows, .d = kHidden, .vocab = kRows, .dtype = kS};
  a.table = m.Storage(kRows * kHidden);
  a.ids = m.Numbers(kRows, kRows);
  a.out = m.Storage(kRows * kHidden);
  a.out_row_stride = kHidden;
  return [&device, a] { EmbeddingForward(device, a); };
}

std::function<void()> EmbedBackward(Device& device, WorkMemory& m) {
  EmbeddingBackwardArgs a = {.rows = kRows,
                             .d = kHidden,
                             .vocab = kRows,
                             .rows_per_leaf = kRows,
                             .dtype = kS};
  a.dout = m.Storage(kRows * kHidden);
  a.ids = m.Numbers(kRows, kRows);
  a.dtable = m.Floats(kRows * kHidden, -1, 1);
  a.dout_row_stride = kHidden;
  return [&device, a] { EmbeddingBackward(device, a); };
}

std::function<void()> CastDown(Device& device, WorkMemory& m) {
  CastArgs a = {
      .n = kVocab * kHidden, .src_dtype = DType::kF32, .dst_dtype = kS};
  a.src = m.Floats(a.n, -1, 1);
  a.dst = m.Storage(a.n);
  return [&device, a] { Cast(device, a); };
}

}  // namespace

void AddRowWork(std::vector<KernelWorkMaker>& all) {
  all.push_back(MemoryWork("cast", "fp32 to bf16", CastDown));
  all.push_back(MemoryWork("conv1d_silu", "forward", ConvForward));
  all.push_back(MemoryWork("conv1d_silu", "backward", ConvBackward));
  all.push_back(MemoryWork("embedding", "forward", EmbedForward));
  all.push_back(MemoryWork("embedding", "backward", EmbedBackward));
  all.push_back(MemoryWork("gated_norm", "forward", GatedForward));
  all.push_back(MemoryWork("gated_norm", "backward", GatedBackward));
  all.push_back(MemoryWork("residual_dropout", "forward", DropoutForward));
  all.push_back(MemoryWork("residual_dropout", "backward", DropoutBackward));
  all.push_back(MemoryWork("rms_norm", "forward", RmsForward));
  all.push_back(MemoryWork("rms_norm", "backward", RmsBackward));
  all.push_back(MemoryWork("squared_relu", "forward", ReluForward));
  all.push_back(MemoryWork("squared_relu", "backward", ReluBackward));
}

}  // namespace lockstep
