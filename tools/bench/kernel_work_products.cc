// Operations that multiply, and the losses behind the last product.
#include <algorithm>
#include <functional>
#include <memory>

#include "model/kernels/attention/attention.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/matmul/matmul_bench_product.h"
#include "model/kernels/ssd_scan/ssd_scan.h"
#include "tools/bench/kernel_work.h"

namespace lockstep {
namespace {

constexpr int64_t kTokens = 2048;
constexpr int64_t kVocab = 16384;
constexpr int64_t kLossRows = 256;  // the head's logits of so many rows at once
constexpr DType kS = DType::kBF16;

// FLOPs are those that the call counts on its device.
KernelWork Counted(Device& device, const char* operation,
                   const std::string& name, std::shared_ptr<WorkMemory> memory,
                   std::function<void()> call) {
  const int64_t before = device.flops();
  call();
  return {operation, name, device.flops() - before, memory->bytes(),
          [memory, call] { call(); }};
}

struct Scan {
  explicit Scan(WorkMemory& m) {
    const int64_t rows = shape.batch * shape.tokens;
    const int64_t inner = shape.heads * shape.head_dim;
    const int64_t wide = shape.groups * shape.state;
    const int64_t terms = shape.batch * shape.heads;
    in.dtype = kS;
    in.x = m.Storage(rows * inner);
    in.b = m.Storage(rows * wide);
    in.c = m.Storage(rows * wide);
    in.dt_raw = m.Storage(rows * shape.heads);
    in.x_row_stride = inner;
    in.b_row_stride = in.c_row_stride = wide;
    in.dt_row_stride = shape.heads;
    in.dt_bias = m.Floats(shape.heads, -4, -1);
    in.a_log = m.Floats(shape.heads, -1, 2);
    in.d = m.Floats(shape.heads, 0, 1);
    saved = {.dt = m.Floats(rows * shape.heads, 0, 1),
             .cumsum = m.Floats(rows * shape.heads, -1, 0),
             .states = m.Floats(
                 terms * shape.chunks() * shape.head_dim * shape.state, -1, 1)};
    y = m.Storage(rows * inner);
  }
  void Forward(Device& device) const {
    SsdForward(device, shape, in, saved, y, in.x_row_stride);
  }
  const SsdShape shape = {1, kTokens, 24, 64, 4, 128, 128};
  SsdInputs in = {};
  SsdSaved saved;
  void* y;
};

KernelWork ScanForward(Device& device) {
  const auto memory = std::make_shared<WorkMemory>();
  const auto scan = std::make_shared<Scan>(*memory);
  return Counted(device, "ssd_scan", "ssd_scan forward", memory,
                 [&device, scan] { scan->Forward(device); });
}

KernelWork ScanBackward(Device& device) {
  const auto memory = std::make_shared<WorkMemory>();
  const auto scan = std::make_shared<Scan>(*memory);
  scan->Forward(device);
  const SsdInputs& in = scan->in;
  SsdGradients out = {};
  out.dx = memory->Storage(kTokens * in.x_row_stride);
  out.db = memory->Storage(kTokens * in.b_row_stride);
  out.dc = memory->Storage(kTokens * in.c_row_stride);
  out.ddt_raw = memory->Storage(kTokens * in.dt_row_stride);
  out.dx_row_stride = in.x_row_stride;
  out.db_row_stride = in.b_row_stride;
  out.dc_row_stride = in.c_row_stride;
  out.ddt_row_stride = in.dt_row_stride;
  for (float** vector : {&out.ddt_bias, &out.da_log, &out.dd}) {
    *vector = memory->Floats(scan->shape.heads, 0, 1);
  }
  return Counted(device, "ssd_scan", "ssd_scan backward", memory,
                 [&device, scan, out] {
                   SsdBackward(device, scan->shape, scan->in, scan->saved,
                               scan->y, scan->in.x_row_stride, out);
                 });
}

struct Attention {
  explicit Attention(WorkMemory& m) {
    const int64_t q = shape.heads * shape.head_dim;
    const int64_t kv = shape.kv_heads * shape.head_dim;
    in.dtype = kS;
    in.q = m.Storage(kTokens * q);
    in.k = m.Storage(kTokens * kv);
    in.v = m.Storage(kTokens * kv);
    in.q_row_stride = q;
    in.k_row_stride = in.v_row_stride = kv;
    o = m.Storage(kTokens * q);
    lse = m.Floats(shape.heads * kTokens, 0, 1);
  }
  void Forward(Device& device) const {
    AttentionForward(device, shape, in, o, in.q_row_stride, lse);
  }
  const AttentionShape shape = {1, kTokens, 12, 4, 64, 128};
  AttentionInputs in = {};
  void* o;
  float* lse;
};

KernelWork AttendForward(Device& device) {
  const auto memory = std::make_shared<WorkMemory>();
  const auto attention = std::make_shared<Attention>(*memory);
  return Counted(device, "attention", "attention forward", memory,
                 [&device, attention] { attention->Forward(device); });
}

KernelWork AttendBackward(Device& device) {
  const auto memory = std::make_shared<WorkMemory>();
  const auto attention = std::make_shared<Attention>(*memory);
  attention->Forward(device);
  const AttentionInputs& in = attention->in;
  AttentionGradients out = {};
  out.dq = memory->Storage(kTokens * in.q_row_stride);
  out.dk = memory->Storage(kTokens * in.k_row_stride);
  out.dv = memory->Storage(kTokens * in.v_row_stride);
  out.dq_row_stride = in.q_row_stride;
  out.dk_row_stride = in.k_row_stride;
  out.dv_row_stride = in.v_row_stride;
  const void* d_o = memory->Storage(kTokens * in.q_row_stride);
  return Counted(device, "attention", "attention backward", memory,
                 [&device, attention, out, d_o] {
                   const int64_t stride = attention->in.q_row_stride;
                   AttentionBackward(device, attention->shape, attention->in,
                                     attention->o, stride, attention->lse, d_o,
                                     stride, out);
                 });
}

KernelWork Loss(Device& device) {
  const auto memory = std::make_shared<WorkMemory>();
  CrossEntropyArgs a = {
      .rows = kLossRows, .vocab = kVocab, .vocab_padded = kVocab};
  a.logits = memory->Floats(kLossRows * kVocab, -4, 4);
  a.logits_row_stride = a.dlogits_row_stride = kVocab;
  a.labels = memory->Numbers(kLossRows, kVocab);
  auto* const mask = static_cast<uint8_t*>(memory->Bytes(kLossRows));
  std::fill_n(mask, kLossRows, uint8_t{1});
  a.mask = mask;
  a.loss = memory->Floats(kLossRows, 0, 1);
  a.dlogits_dtype = kS;
  a.dlogits = memory->Storage(kLossRows * kVocab);
  return {"cross_entropy", "cross_entropy", 0, memory->bytes(),
          [&device, a, memory] { CrossEntropy(device, a); }};
}

KernelWork Product(Device& device) {
  const auto product = std::make_shared<BenchProduct>(
      device, BenchShape{"", "NT", kTokens, 3072, 768}, kS, kS);
  return Counted(device, "matmul", "matmul", std::make_shared<WorkMemory>(),
                 [&device, product] { Matmul(device, product->args()); });
}

}  // namespace

void AddProductWork(std::vector<KernelWorkMaker>& all) {
  all.push_back({"attention", "attention forward", AttendForward});
  all.push_back({"attention", "attention backward", AttendBackward});
  all.push_back({"cross_entropy", "cross_entropy", Loss});
  all.push_back({"matmul", "matmul", Product});
  all.push_back({"ssd_scan", "ssd_scan forward", ScanForward});
  all.push_back({"ssd_scan", "ssd_scan backward", ScanBackward});
}

}  // namespace lockstep
