// Precision modes: which dtype activations and matrices have at run time.
//
// What it is: the recipe's `precision` section. What it is not: rounding
// points, which N13 fixes per operation, nor the loss scaler's state.
// Why so: masters, moments and gradients are fp32 in every mode (N10), so a
// mode is one dtype and, for fp16, the scale it starts from.
#ifndef LOCKSTEP_MODEL_PRECISION_H_
#define LOCKSTEP_MODEL_PRECISION_H_

#include <string>

#include "determinism/dtype.h"
#include "recipes/section.h"

namespace lockstep {

struct PrecisionConfig {
  std::string mode = "bf16";
  double initial_scale = 4096.0;  // fp16 only

  DType storage() const {
    if (mode == "fp32") return DType::kF32;
    return mode == "fp16" ? DType::kF16 : DType::kBF16;
  }
};

inline void DescribeSection(Section& section, PrecisionConfig& config) {
  section.Reserved("mode", {"mxfp8", "nvfp4"}, "not built yet");
  section.Choice("mode", config.mode, {"fp32", "bf16", "fp16"},
                 {.help = "dtype of activations and run-time matrices"});
  section.Real("initial_scale", config.initial_scale,
               {.min = 1.0,
                .max = 4294967296.0,
                .help = "first loss scale of fp16; unused in fp32 and bf16"});
}

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PRECISION_H_
