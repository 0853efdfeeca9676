// What a Mamba-2 mixer keeps of one forward pass, and its sizes.
//
// What it is: the tensors that backward reads, one object a micro-batch. What
// it is not: anything that outlives the micro-batch. Why so: memory of a layer
// is decided here and can be read off here.
#ifndef LOCKSTEP_MODEL_MAMBA2_SAVED_H_
#define LOCKSTEP_MODEL_MAMBA2_SAVED_H_

#include <cstdint>
#include <string_view>

#include "model/config.h"
#include "model/mixer.h"
#include "model/observe.h"
#include "model/tensor.h"

namespace lockstep {

struct Mamba2Saved : MixerSaved {
  Mamba2Saved(Device& device, DType storage, const ModelConfig& c,
              int64_t samples, int64_t tokens)
      : zxbcdt_RC(Tensor::Uninit(device, storage,
                                 {samples * tokens, c.in_proj_rows()})),
        xbc_RC(Tensor::Uninit(device, storage,
                              {samples * tokens, c.conv_channels()})),
        y_RI(Tensor::Uninit(device, storage, {samples * tokens, c.inner()})),
        gated_RI(
            Tensor::Uninit(device, storage, {samples * tokens, c.inner()})),
        rstd_RG(
            Tensor::Uninit(device, DType::kF32, {samples * tokens, c.groups})),
        dt_BHT(Tensor::Uninit(device, DType::kF32,
                              {samples, c.mamba_heads, tokens})),
        cumsum_BHT(Tensor::Uninit(device, DType::kF32,
                                  {samples, c.mamba_heads, tokens})),
        states(Tensor::Uninit(
            device, DType::kF32,
            {samples, c.mamba_heads, (tokens + c.chunk - 1) / c.chunk,
             c.mamba_head_dim, c.state})) {}

  Tensor zxbcdt_RC;   // in_proj's output
  Tensor xbc_RC;      // after convolution and SiLU
  Tensor y_RI;        // the scan's output
  Tensor gated_RI;    // after the gated norm
  Tensor rstd_RG;     // of the gated norm
  Tensor dt_BHT;      // step sizes
  Tensor cumsum_BHT;  // of A dt inside a chunk
  Tensor states;      // at the start of each chunk
};

// Where a column of a row-major tensor begins, and `width` columns from there.
inline char* Column(const Tensor& tensor, int64_t column) {
  return static_cast<char*>(const_cast<void*>(tensor.raw())) +
         column * static_cast<int64_t>(SizeOf(tensor.dtype()));
}
inline TensorRef Part(std::string_view name, const Tensor& row, int64_t column,
                      int64_t width) {
  return Ref(name, row.dtype(), Column(row, column), row.dim(0), width,
             row.dim(1));
}

// What a rank has of the whole model's columns, and tensors said to be so.
struct Mamba2Cut {
  HeldDim channels;  // of the convolution
  HeldDim inner;
  HeldDim heads;

  TensorRef Channels(TensorRef ref) const { return Cut(ref, 1, channels); }
  TensorRef Inner(TensorRef ref) const { return Cut(ref, 1, inner); }
  TensorRef Heads(TensorRef ref) const { return Cut(ref, 1, heads); }
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_MAMBA2_SAVED_H_
