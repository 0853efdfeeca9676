// The contract of ssd_scan.h, one element at a time: what every kernel must
// meet byte for byte. For tests; slow, plain. Shares no code with the kernels
// but the elementary functions, the conversions and the ordered sums.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_SCAN_REFERENCE_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_SCAN_REFERENCE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/product_reference.h"
#include "model/kernels/ssd_scan/ssd_scan_testing.h"

namespace lockstep {

// One (sample, head). Tokens i, j and k count from the chunk's first.
class SsdReference {
 public:
  SsdReference(const SsdCase& scan, int64_t sample, int64_t head)
      : scan_(scan),
        s_(scan.shape),
        dtype_(scan.x.dtype()),
        sample_(sample),
        head_(head),
        group_(head * s_.groups / s_.heads),
        a_(-math::Exp(scan.a_log[head])),
        dt(s_.tokens),
        cs(s_.tokens),
        states(s_.chunks() + 1, std::vector<float>(s_.head_dim * s_.state)),
        gradients(states),
        y(s_.tokens * s_.head_dim),
        dx(y),
        db(s_.tokens * s_.state),
        dc(db),
        ddt(s_.tokens),
        dt_da(s_.tokens),
        g_x(s_.tokens) {
    for (int64_t t = 0; t < s_.tokens; ++t) {
      dt[t] = math::Softplus(V(t));
      cs[t] = (t % s_.chunk == 0 ? 0.0f : cs[t - 1]) + a_ * dt[t];
    }
    for (int64_t c = 0; c < s_.chunks(); ++c) Forward(c);
    for (int64_t c = s_.chunks() - 1; c >= 0; --c) Backward(c);
  }

 private:
  const SsdCase& scan_;
  const SsdShape& s_;
  const DType dtype_;
  const int64_t sample_, head_, group_;
  const float a_;

 public:
  std::vector<float> dt, cs;
  std::vector<std::vector<float>> states, gradients;  // H_c, G_c
  std::vector<float> y, dx, db, dc;  // db, dc: this head's part, fp32
  std::vector<float> ddt, dt_da, g_x;

 private:
  int64_t Row(int64_t t) const { return sample_ * s_.tokens + t; }
  float V(int64_t t) const {
    return scan_.dt_raw.Get(Row(t), head_) + scan_.dt_bias[head_];
  }
  float X(int64_t t, int64_t p) const {
    return scan_.x.Get(Row(t), head_ * s_.head_dim + p);
  }
  float G(int64_t t, int64_t p) const {
    return scan_.dy.Get(Row(t), head_ * s_.head_dim + p);
  }
  float B(int64_t t, int64_t n) const {
    return scan_.b.Get(Row(t), group_ * s_.state + n);
  }
  float C(int64_t t, int64_t n) const {
    return scan_.c.Get(Row(t), group_ * s_.state + n);
  }
  float U(int64_t t, int64_t p) const { return dt[t] * X(t, p); }
  int32_t Segment(int64_t t) const {
    return scan_.segments.empty()
               ? 0
               : scan_.segments[Row(std::max<int64_t>(t, 0))];
  }
  int64_t Last(int64_t c) const {
    return std::min(s_.tokens, (c + 1) * s_.chunk) - 1;
  }

  // The decays, with t absolute.
  float Lambda(int64_t i, int64_t j) const {
    if (j > i || Segment(i) != Segment(j)) return 0.0f;
    return math::Exp(std::min(cs[i] - cs[j], 0.0f));
  }
  float ToEnd(int64_t c, int64_t j) const {
    if (Segment(j) != Segment(Last(c))) return 0.0f;
    return math::Exp(std::min(cs[Last(c)] - cs[j], 0.0f));
  }
  float FromStart(int64_t c, int64_t i) const {
    if (Segment(i) != Segment(c * s_.chunk - 1)) return 0.0f;
    return math::Exp(cs[i]);
  }

  // Over n = 0 (a state before the first chunk, or behind the last) it is +0.
  template <class L, class R>
  float Product(int64_t n, L left, R right) const {
    return ProductReference(dtype_, 0, n, left, right);
  }
  float K(int64_t i, int64_t j) const {
    return Product(
        s_.state, [&](int64_t n) { return C(i, n); },
        [&](int64_t n) { return B(j, n); });
  }
  float W(int64_t i, int64_t j) const {
    return Product(
        s_.head_dim, [&](int64_t p) { return G(i, p); },
        [&](int64_t p) { return U(j, p); });
  }

  // Sums over j in the blocks of 32 not above i, and over i in the blocks not
  // above j. Masked entries of `left` are +0 by Lambda.
  template <class L, class R>
  float OverEarlier(int64_t first, int64_t last, int64_t i, L left,
                    R right) const {
    const int64_t end = std::min((i - first) / 32 * 32 + 32, last + 1 - first);
    return ProductReference(
        dtype_, 0, end, [&](int64_t j) { return left(first + j); },
        [&](int64_t j) { return right(first + j); });
  }
  template <class L, class R>
  float OverLater(int64_t first, int64_t last, int64_t j, L left,
                  R right) const {
    const int64_t begin = (j - first) / 32 * 32;
    return ProductReference(
        dtype_, begin, last + 1 - first,
        [&](int64_t i) { return left(first + i); },
        [&](int64_t i) { return right(first + i); });
  }

  void Forward(int64_t c) {
    const int64_t first = c * s_.chunk, last = Last(c);
    const std::vector<float>& h = states[c];
    for (int64_t i = first; i <= last; ++i) {
      for (int64_t p = 0; p < s_.head_dim; ++p) {
        const float within = OverEarlier(
            first, last, i,
            [&](int64_t j) { return j > i ? 0.0f : Lambda(i, j) * K(i, j); },
            [&](int64_t j) { return U(j, p); });
        const float carried = Product(
            c == 0 ? 0 : s_.state, [&](int64_t n) { return C(i, n); },
            [&](int64_t n) { return h[p * s_.state + n]; });
        const float state = within + FromStart(c, i) * carried;
        y[i * s_.head_dim + p] =
            RoundTo(dtype_, state + scan_.d[head_] * X(i, p));
      }
    }
    for (int64_t p = 0; p < s_.head_dim; ++p) {
      for (int64_t n = 0; n < s_.state; ++n) {
        const float entering = Product(
            last + 1 - first,
            [&](int64_t j) { return ToEnd(c, first + j) * U(first + j, p); },
            [&](int64_t j) { return B(first + j, n); });
        const int64_t at = p * s_.state + n;
        states[c + 1][at] = FromStart(c, last) * h[at] + entering;
      }
    }
  }

  void Backward(int64_t c) {
    const int64_t first = c * s_.chunk, last = Last(c), q = last + 1 - first;
    const std::vector<float>& h = states[c];
    const std::vector<float>& later = gradients[c + 1];
    const int64_t ps = s_.head_dim, ns = s_.state;
    std::vector<float> du(q * ps), ends(q), starts(q), da(q);
    std::vector<std::vector<float>> m(q, std::vector<float>(q, 0.0f));
    for (int64_t t = first; t <= last; ++t) {
      std::vector<float> u(ps), gb(ps), c_row(ns), hg(ns);
      for (int64_t p = 0; p < ps; ++p) {
        const float within = OverLater(
            first, last, t,
            [&](int64_t i) { return i < t ? 0.0f : Lambda(i, t) * K(i, t); },
            [&](int64_t i) { return G(i, p); });
        gb[p] = Product(
            c + 1 == s_.chunks() ? 0 : ns, [&](int64_t n) { return B(t, n); },
            [&](int64_t n) { return later[p * ns + n]; });
        u[p] = U(t, p);
        du[(t - first) * ps + p] = within + ToEnd(c, t) * gb[p];
      }
      for (int64_t n = 0; n < ns; ++n) {
        hg[n] = Product(
            c == 0 ? 0 : ps, [&](int64_t p) { return G(t, p); },
            [&](int64_t p) { return h[p * ns + n]; });
        c_row[n] = C(t, n);
        const float dc_within = OverEarlier(
            first, last, t,
            [&](int64_t j) { return j > t ? 0.0f : Lambda(t, j) * W(t, j); },
            [&](int64_t j) { return B(j, n); });
        dc[t * ns + n] = dc_within + FromStart(c, t) * hg[n];
        const float db_within = OverLater(
            first, last, t,
            [&](int64_t i) { return i < t ? 0.0f : Lambda(i, t) * W(i, t); },
            [&](int64_t i) { return C(i, n); });
        const float gu = Product(
            c + 1 == s_.chunks() ? 0 : ps, [&](int64_t p) { return U(t, p); },
            [&](int64_t p) { return later[p * ns + n]; });
        db[t * ns + n] = db_within + ToEnd(c, t) * gu;
      }
      ends[t - first] = ToEnd(c, t) * OrderedDot(u.data(), gb.data(), ps);
      starts[t - first] =
          FromStart(c, t) * OrderedDot(c_row.data(), hg.data(), ns);
      for (int64_t j = first; j < t; ++j) {
        m[t - first][j - first] = (Lambda(t, j) * K(t, j)) * W(t, j);
      }
    }
    const float whole =
        FromStart(c, last) * OrderedDot(later.data(), h.data(), ps * ns);
    for (int64_t k = 0; k < q; ++k) {
      std::vector<float> columns(q, 0.0f);
      float after = 0.0f, before = 0.0f;
      for (int64_t i = q - 1; i >= k; --i) {
        after = after + starts[i];
        for (int64_t j = 0; j < k; ++j) columns[j] = columns[j] + m[i][j];
      }
      for (int64_t j = 0; j < k; ++j) before = before + ends[j];
      da[k] = ((OrderedSum(columns.data(), k) + after) + before) + whole;
    }
    for (int64_t i = 0; i < q; ++i) Store(first + i, du.data() + i * ps, da[i]);
    for (int64_t p = 0; p < ps; ++p) {
      for (int64_t n = 0; n < ns; ++n) {
        const float entering = Product(
            q,
            [&](int64_t i) {
              return FromStart(c, first + i) * G(first + i, p);
            },
            [&](int64_t i) { return C(first + i, n); });
        const int64_t at = p * ns + n;
        gradients[c][at] = FromStart(c, last) * later[at] + entering;
      }
    }
  }

  void Store(int64_t t, const float* du, float da) {
    const int64_t ps = s_.head_dim;
    std::vector<float> x(ps), g(ps);
    for (int64_t p = 0; p < ps; ++p) {
      x[p] = X(t, p);
      g[p] = G(t, p);
      dx[t * ps + p] = RoundTo(dtype_, scan_.d[head_] * g[p] + dt[t] * du[p]);
    }
    const float slope = V(t) > 20.0f ? 1.0f : math::Sigmoid(V(t));
    ddt[t] = (OrderedDot(x.data(), du, ps) + a_ * da) * slope;
    dt_da[t] = dt[t] * da;
    g_x[t] = OrderedDot(g.data(), x.data(), ps);
  }
};

// All heads, in the layout of RunSsd.
inline SsdResult ReferenceSsd(const SsdCase& scan) {
  const ScopedFloatEnv strict;
  const SsdShape& s = scan.shape;
  const DType dtype = scan.x.dtype();
  const int64_t rows = s.batch * s.tokens;
  const int64_t ps = s.head_dim, ns = s.state;
  std::vector<float> dt, cumsum, states;
  std::vector<float> y(rows * s.heads * ps), dx(y);
  std::vector<float> db(rows * s.groups * ns, 0.0f), dc(db);
  std::vector<float> ddt(rows * s.heads), dt_da(ddt), g_x(ddt);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const SsdReference one(scan, b, h);
      dt.insert(dt.end(), one.dt.begin(), one.dt.end());
      cumsum.insert(cumsum.end(), one.cs.begin(), one.cs.end());
      for (int64_t c = 0; c < s.chunks(); ++c) {
        states.insert(states.end(), one.states[c].begin(), one.states[c].end());
      }
      for (int64_t t = 0; t < s.tokens; ++t) {
        const int64_t row = b * s.tokens + t;
        for (int64_t p = 0; p < ps; ++p) {
          y[(row * s.heads + h) * ps + p] = one.y[t * ps + p];
          dx[(row * s.heads + h) * ps + p] = one.dx[t * ps + p];
        }
        for (int64_t n = 0; n < ns; ++n) {
          const int64_t at = (row * s.groups + h * s.groups / s.heads) * ns + n;
          db[at] = db[at] + one.db[t * ns + n];
          dc[at] = dc[at] + one.dc[t * ns + n];
        }
        ddt[row * s.heads + h] = one.ddt[t];
        dt_da[row * s.heads + h] = one.dt_da[t];
        g_x[row * s.heads + h] = one.g_x[t];
      }
    }
  }
  const int64_t leaves = s.batch / scan.samples_per_leaf;
  const int64_t leaf_rows = scan.samples_per_leaf * s.tokens;
  std::vector<float> ddt_bias(leaves * s.heads), da_log(ddt_bias), dd(ddt_bias);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    const int64_t from = leaf * leaf_rows * s.heads, to = leaf * s.heads;
    OrderedColumnSum(&ddt[from], leaf_rows, s.heads, s.heads, &ddt_bias[to]);
    OrderedColumnSum(&dt_da[from], leaf_rows, s.heads, s.heads, &da_log[to]);
    OrderedColumnSum(&g_x[from], leaf_rows, s.heads, s.heads, &dd[to]);
    for (int64_t h = 0; h < s.heads; ++h) {
      da_log[to + h] = -math::Exp(scan.a_log[h]) * da_log[to + h];
    }
  }
  for (std::vector<float>* rounded : {&db, &dc, &ddt}) {
    for (float& value : *rounded) value = RoundTo(dtype, value);
  }
  return {{{"y", y},
           {"dt", dt},
           {"cumsum", cumsum},
           {"states", states},
           {"x", dx},
           {"b", db},
           {"c", dc},
           {"dt_raw", ddt},
           {"dt_bias", ddt_bias},
           {"a_log", da_log},
           {"d", dd}}};
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_SCAN_REFERENCE_H_
