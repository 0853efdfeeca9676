// A scan to run in tests: inputs in any storage type, all outputs.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/kernel_testing.h"
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

  // Steps of many sizes; the last head decays as fast as a model's ever does.
  static SsdCase Random(const SsdShape& s, DType dtype, uint32_t seed) {
    SsdCase result(s, dtype);
    std::mt19937 random(seed);
    for (StorageBuffer* buffer :
         {&result.x, &result.b, &result.c, &result.dt_raw, &result.dy}) {
      buffer->Fill(
          NormalValues(random, buffer->rows() * buffer->columns(), 0.7f));
    }
    for (int64_t h = 0; h < s.heads; ++h) {
      result.dt_bias.push_back(-4.0f + 0.6f * h);
      result.a_log.push_back(h + 1 == s.heads ? 2.7f : -0.5f + 0.3f * h);
      result.d.push_back(1.5f - 0.4f * h);
    }
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

inline SsdResult RunSsd(const SsdCase& scan, Isa isa, int threads = 1) {
  Device device(threads, isa);
  const SsdShape& s = scan.shape;
  const DType dtype = scan.x.dtype();
  const int64_t rows = s.batch * s.tokens;
  const float poison = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> dt(rows * s.heads, poison), cumsum = dt;
  std::vector<float> states(
      s.batch * s.heads * s.chunks() * s.head_dim * s.state, poison);
  const SsdSaved saved{dt.data(), cumsum.data(), states.data()};
  StorageBuffer y(dtype, rows, s.heads * s.head_dim);
  SsdForward(device, s, scan.Inputs(), saved, y.data(), y.row_stride());

  StorageBuffer dx(dtype, rows, s.heads * s.head_dim),
      db(dtype, rows, s.groups * s.state), dc = db, ddt(dtype, rows, s.heads);
  const int64_t leaves = s.batch / scan.samples_per_leaf;
  std::vector<float> ddt_bias(leaves * s.heads, poison), da_log = ddt_bias,
                                                         dd = ddt_bias;
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

}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_SCAN_TESTING_H_
