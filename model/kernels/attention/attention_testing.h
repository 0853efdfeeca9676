// An attention to run in tests: inputs in any storage type, all outputs.

#ifndef MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_
#define MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/kernel_testing.h"
#include "model/kernels/regimes.h"

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

  template <class Draw>
  void Fill(Draw draw) {
    for (StorageBuffer* buffer : {&q, &k, &v, &d_o}) {
      buffer->Fill(draw(buffer->rows() * buffer->columns()));
    }
  }

  static AttentionCase Random(const AttentionShape& s, DType dtype,
                              uint32_t seed) {
    AttentionCase result(s, dtype);
    std::mt19937 random(seed);
    result.Fill([&](int64_t count) { return NormalValues(random, count); });
    return result;
  }

  static AttentionCase Hostile(const AttentionShape& s, DType dtype,
                               Regime regime, uint32_t seed) {
    AttentionCase result(s, dtype);
    result.Fill(
        [&](int64_t count) { return RegimeFloats(count, regime, seed++); });
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
                                 int threads = 1, uint8_t poison = kNanPoison) {
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
  std::vector<float> lse = PoisonedFloats(rows * s.heads, poison);
  StorageBuffer o(dtype, rows, s.heads * s.head_dim, 4, poison),
      dq = problem.q, dk = problem.k, dv = problem.v;
  for (StorageBuffer* buffer : {&dq, &dk, &dv}) {
    *buffer = StorageBuffer(dtype, rows, buffer->columns(), 6, poison);
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

// Returns how many elements were compared.
inline int64_t ExpectSame(const NamedTensors& a, const NamedTensors& b,
                          const std::string& what) {
  EXPECT_EQ(a.size(), b.size()) << what;
  int64_t compared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_TRUE(SameBits(a[i].second, b[i].second))
        << what << ": " << a[i].first;
    compared += static_cast<int64_t>(a[i].second.size());
  }
  return compared;
}

// `want` was made over the first poison; here it is the other one, so that an
// element that nobody writes differs. Returns how many were compared.
inline int64_t ExpectOnEveryDevice(const AttentionCase& problem,
                                   const NamedTensors& want,
                                   const std::string& what,
                                   const std::vector<int>& threads = {1}) {
  int64_t compared = 0;
  for (const Isa isa : PresentIsas()) {
    for (const int count : threads) {
      compared +=
          ExpectSame(want, RunAttention(problem, isa, count, kFinitePoison),
                     what + ", " + NameOf(isa) + ", " + std::to_string(count) +
                         " threads");
    }
  }
  EXPECT_GT(compared, 0) << what << ": nothing was compared";
  return compared;
}

// Rows [first, first + count) of a tensor with `rows` rows.
inline std::vector<float> Slice(const std::vector<float>& values, int64_t rows,
                                int64_t first, int64_t count) {
  const int64_t width = static_cast<int64_t>(values.size()) / rows;
  return {values.begin() + first * width,
          values.begin() + (first + count) * width};
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_ATTENTION_ATTENTION_TESTING_H_
