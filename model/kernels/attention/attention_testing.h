// An attention to run in tests: inputs in any storage type, all outputs.

#ifndef MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_
#define MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/kernel_testing.h"

namespace lockstep {

struct AttentionCase {
  AttentionShape shape;
  StorageBuffer q, k, v, d_o;
  std::vector<int32_t> segments;

  AttentionCase(const AttentionShape& s, DType dtype) : shape(s) {
    const int64_t rows = s.batch * s.tokens;
    q = StorageBuffer(dtype, rows, s.heads * s.head_dim);
    k = StorageBuffer(dtype, rows, s.kv_heads * s.head_dim, 5);
    v = StorageBuffer(dtype, rows, s.kv_heads * s.head_dim, 1);
    d_o = StorageBuffer(dtype, rows, s.heads * s.head_dim, 2);
  }

  static AttentionCase Random(const AttentionShape& s, DType dtype,
                              uint32_t seed) {
    AttentionCase result(s, dtype);
    std::mt19937 random(seed);
    for (StorageBuffer* buffer :
         {&result.q, &result.k, &result.v, &result.d_o}) {
      buffer->Fill(NormalValues(random, buffer->rows() * buffer->columns()));
    }
    return result;
  }
};

using NamedTensors = std::vector<std::pair<std::string, std::vector<float>>>;

inline const std::vector<float>& Find(const NamedTensors& tensors,
                                      const std::string& name) {
  for (const auto& [key, values] : tensors) {
    if (key == name) return values;
  }
  LS_CHECK(false) << name;
  return tensors[0].second;
}

inline NamedTensors RunAttention(const AttentionCase& problem, Isa isa,
                                 int threads = 1) {
  Device device(threads, isa);
  const AttentionShape& s = problem.shape;
  const DType dtype = problem.q.dtype();
  const int64_t rows = s.batch * s.tokens;
  const AttentionInputs in{
      dtype,
      problem.q.data(),
      problem.q.row_stride(),
      problem.k.data(),
      problem.k.row_stride(),
      problem.v.data(),
      problem.v.row_stride(),
      problem.segments.empty() ? nullptr : problem.segments.data()};
  std::vector<float> lse(rows * s.heads,
                         std::numeric_limits<float>::quiet_NaN());
  StorageBuffer o(dtype, rows, s.heads * s.head_dim, 4),
      dq = problem.q, dk = problem.k, dv = problem.v;
  for (StorageBuffer* buffer : {&dq, &dk, &dv}) {
    *buffer = StorageBuffer(dtype, rows, buffer->columns(), 6);
  }
  AttentionForward(device, s, in, o.data(), o.row_stride(), lse.data());
  AttentionBackward(device, s, in, o.data(), o.row_stride(), lse.data(),
                    problem.d_o.data(), problem.d_o.row_stride(),
                    {dq.data(), dq.row_stride(), dk.data(), dk.row_stride(),
                     dv.data(), dv.row_stride(), 0});
  for (const StorageBuffer* buffer : {&o, &dq, &dk, &dv}) {
    EXPECT_TRUE(buffer->GapsUntouched());
  }
  return {{"o", o.Values()},
          {"lse", lse},
          {"q", dq.Values()},
          {"k", dk.Values()},
          {"v", dv.Values()}};
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_
