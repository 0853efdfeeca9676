// A scan to run in tests: inputs in any storage type, all outputs.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/kernel_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {

struct SsdCase {
  SsdShape shape;
  StorageBuffer x, b, c, dt_raw, dy;
  std::vector<float> dt_bias, a_log, d;
  std::vector<int32_t> segments;
  int64_t samples_per_leaf = 1;

  SsdCase(const SsdShape& s, DType dtype) : shape(s) {
    const int64_t rows = s.batch * s.tokens;
    x = StorageBuffer(dtype, rows, s.heads * s.head_dim);
    b = StorageBuffer(dtype, rows, s.groups * s.state, 5);
    c = StorageBuffer(dtype, rows, s.groups * s.state, 1);
    dt_raw = StorageBuffer(dtype, rows, s.heads, 7);
    dy = StorageBuffer(dtype, rows, s.heads * s.head_dim, 2);
  }

  template <class Draw>
  void Fill(Draw draw) {
    for (StorageBuffer* buffer : {&x, &b, &c, &dt_raw, &dy}) {
      buffer->Fill(draw(buffer->rows() * buffer->columns()));
    }
  }

  // Steps of many sizes; the last head decays as fast as a model's ever does.
  static SsdCase Random(const SsdShape& s, DType dtype, uint32_t seed) {
    SsdCase result(s, dtype);
    std::mt19937 random(seed);
    result.Fill(
        [&](int64_t count) { return NormalValues(random, count, 0.7f); });
    for (int64_t h = 0; h < s.heads; ++h) {
      result.dt_bias.push_back(-4.0f + 0.6f * h);
      result.a_log.push_back(h + 1 == s.heads ? 2.7f : -0.5f + 0.3f * h);
      result.d.push_back(1.5f - 0.4f * h);
    }
    return result;
  }

  // Hostile in all that varies by token; a head's parameters stay a model's.
  static SsdCase Hostile(const SsdShape& s, DType dtype, Regime regime,
                         uint32_t seed) {
    SsdCase result = Random(s, dtype, seed);
    result.Fill(
        [&](int64_t count) { return RegimeFloats(count, regime, seed++); });
    return result;
  }

  SsdInputs Inputs() const {
    return {x.dtype(),
            x.data(),
            x.row_stride(),
            b.data(),
            b.row_stride(),
            c.data(),
            c.row_stride(),
            dt_raw.data(),
            dt_raw.row_stride(),
            dt_bias.data(),
            a_log.data(),
            d.data(),
            segments.empty() ? nullptr : segments.data()};
  }
};

// Named results, row-major without gaps.
struct SsdResult {
  std::vector<std::pair<std::string, std::vector<float>>> tensors;
  const std::vector<float>& operator[](const std::string& name) const {
    for (const auto& [key, values] : tensors) {
      if (key == name) return values;
    }
    LS_CHECK(false) << name;
    return tensors[0].second;
  }
};

inline SsdResult RunSsd(const SsdCase& scan, Isa isa, int threads = 1,
                        uint8_t poison = kNanPoison) {
  Device device(threads, isa);
  const SsdShape& s = scan.shape;
  const DType dtype = scan.x.dtype();
  const int64_t rows = s.batch * s.tokens;
  std::vector<float> dt = PoisonedFloats(rows * s.heads, poison), cumsum = dt;
  std::vector<float> states = PoisonedFloats(
      s.batch * s.heads * s.chunks() * s.head_dim * s.state, poison);
  const SsdSaved saved{dt.data(), cumsum.data(), states.data()};
  StorageBuffer y(dtype, rows, s.heads * s.head_dim, 3, poison);
  SsdForward(device, s, scan.Inputs(), saved, y.data(), y.row_stride());

  StorageBuffer dx(dtype, rows, s.heads * s.head_dim, 3, poison),
      db(dtype, rows, s.groups * s.state, 3, poison),
      dc = db, ddt(dtype, rows, s.heads, 3, poison);
  const int64_t leaves = s.batch / scan.samples_per_leaf;
  std::vector<float> ddt_bias = PoisonedFloats(leaves * s.heads, poison),
                     da_log = ddt_bias, dd = ddt_bias;
  SsdBackward(
      device, s, scan.Inputs(), saved, scan.dy.data(), scan.dy.row_stride(),
      {dx.data(), dx.row_stride(), db.data(), db.row_stride(), dc.data(),
       dc.row_stride(), ddt.data(), ddt.row_stride(), ddt_bias.data(),
       da_log.data(), dd.data(), scan.samples_per_leaf});
  for (const StorageBuffer* buffer : {&y, &dx, &db, &dc, &ddt}) {
    EXPECT_TRUE(buffer->GapsUntouched());
  }
  return {{{"y", y.Values()},
           {"dt", dt},
           {"cumsum", cumsum},
           {"states", states},
           {"x", dx.Values()},
           {"b", db.Values()},
           {"c", dc.Values()},
           {"dt_raw", ddt.Values()},
           {"dt_bias", ddt_bias},
           {"a_log", da_log},
           {"d", dd}}};
}

inline void ExpectSame(const SsdResult& a, const SsdResult& b,
                       const std::string& what) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_TRUE(SameBits(a.tensors[i].second, b.tensors[i].second))
        << what << ": " << a.tensors[i].first;
  }
}

// `want` was made over the first poison; here it is the other one, so that an
// element that nobody writes differs.
inline void ExpectOnEveryDevice(const SsdCase& scan, const SsdResult& want,
                                const std::string& what,
                                const std::vector<int>& threads = {1}) {
  int64_t runs = 0;
  for (const Isa isa : PresentIsas()) {
    for (const int count : threads) {
      ExpectSame(want, RunSsd(scan, isa, count, kFinitePoison),
                 what + ", " + NameOf(isa) + ", " + std::to_string(count) +
                     " threads");
      ++runs;
    }
  }
  EXPECT_GT(runs, 0) << what << ": nothing was compared";
}

// Rows [first, first + count) of a tensor with `rows` rows.
inline std::vector<float> Slice(const std::vector<float>& values, int64_t rows,
                                int64_t first, int64_t count) {
  const int64_t width = static_cast<int64_t>(values.size()) / rows;
  return {values.begin() + first * width,
          values.begin() + (first + count) * width};
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_
