// What backward of the scan reads for one head and chunk, as operands. For
// ssd_scan_backward_kernel.cc only.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_BACKWARD_PANELS_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_BACKWARD_PANELS_H_

#include <cstdint>

#include "model/kernels/panel.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
#include "model/kernels/ssd_scan/ssd_group.h"
#include "model/kernels/ssd_scan/ssd_scan_kernel.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

template <class S>
struct BackwardPanels {
  BackwardPanels(const SsdSizes<S>& size, PanelMemory& memory) {
    const int64_t qs = size.q_stride, ps = size.p_stride, ns = size.n_stride;
    for (float** panel : {&x, &g, &decayed_g, &u, &u_transposed}) {
      *panel = memory.Take(qs * ps);
    }
    for (float** panel : {&state, &dstate, &dstate_transposed}) {
      *panel = memory.Take(ps * ns);
    }
    decay.to_end = memory.Take(qs);
    decay.from_start = memory.Take(qs);
  }

  static int64_t Floats(const SsdSizes<S>& size) {
    return size.q_stride * (5 * size.p_stride + 2) +
           3 * size.p_stride * size.n_stride;
  }

  // x, g, exp(cs) g, u and its transpose; the last three rounded. The decay
  // must be there.
  void ReadHead(const SsdBackwardArgs& args, const SsdSizes<S>& size,
                int64_t sample, int64_t head, const float* dt,
                const Chunk& chunk) {
    const int64_t ps = size.p_stride, column = head * size.p;
    const SsdInputs& in = args.in;
    ReadPanel(
        PartOf<S>(in.x, in.x_row_stride, args.shape, sample, chunk, column),
        in.x_row_stride, chunk.q, chunk.padded, size.p, x, ps);
    ReadPanel(PartOf<S>(args.dy, args.dy_row_stride, args.shape, sample, chunk,
                        column),
              args.dy_row_stride, chunk.q, chunk.padded, size.p, g, ps);
    for (int64_t j = 0; j < chunk.padded; ++j) {
      const float step = j < chunk.q ? dt[j] : 0.0f;
      const float from_start = j < chunk.q ? decay.from_start[j] : 0.0f;
      const int64_t at = j * ps;
      LS_IVDEP
      for (int64_t c = 0; c < size.p; ++c) {
        u[at + c] = Rounded<S>(step * x[at + c]);
        decayed_g[at + c] = Rounded<S>(from_start * g[at + c]);
      }
    }
    TransposePanel(u, ps, chunk.padded, size.p, u_transposed, size.q_stride);
  }

  // H_c and G_{c+1}, rounded.
  void ReadStates(const SsdSizes<S>& size, const float* state_f32,
                  const float* dstate_f32) {
    for (int64_t r = 0; r < size.p; ++r) {
      const int64_t to = r * size.n_stride, from = r * size.n;
      LS_IVDEP
      for (int64_t c = 0; c < size.n; ++c) {
        state[to + c] = Rounded<S>(state_f32[from + c]);
        dstate[to + c] = Rounded<S>(dstate_f32[from + c]);
      }
    }
    TransposePanel(dstate, size.n_stride, size.p, size.n, dstate_transposed,
                   size.p_stride);
  }

  Decay decay{};
  float *x, *g, *decayed_g;  // [q, p]
  float *u, *u_transposed;   // [q, p], [p, q]
  float *state, *dstate;     // [p, n]
  float* dstate_transposed;  // [n, p]
};

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_BACKWARD_PANELS_H_
