// What every forward and backward call is told about where it stands.
//
// What it is: a value passed down by reference; all that an operation may know
// besides its tensors. What it is not: a place for state: nothing in it
// changes while a micro-batch runs, except the phase, by whoever owns it.
// Why so: results are functions of logical position (N1, N9), so the position
// is an argument and never a counter kept by a layer.
#ifndef LOCKSTEP_MODEL_STEP_CONTEXT_H_
#define LOCKSTEP_MODEL_STEP_CONTEXT_H_

#include <cstdint>
#include <span>

#include "determinism/operation.h"
#include "model/device.h"
#include "model/tensor_axis.h"

namespace lockstep {

struct StepContext {
  Device& device;
  OperationHooks& hooks;
  uint64_t seed = 0;
  int64_t step = 0;
  int attempt = 0;
  Phase phase = Phase::kForward;
  int64_t micro_batch = 0;
  // Global index of each sample of the micro-batch, ascending and with gaps
  // where samples are skipped. Empty: samples that have none, as in an
  // evaluation. Not owned.
  std::span<const uint64_t> sample_ids = {};
  int64_t samples = 0;           // samples in this micro-batch
  int64_t tokens = 0;            // tokens of each sample
  int64_t samples_per_leaf = 1;  // N5
  bool training = true;          // dropout acts only then
  double loss_scale = 1.0;
  // [samples, tokens], equal inside a document; null: no resets (N14). Not
  // owned.
  const int32_t* segments = nullptr;

  // The ranks among which each layer is cut. Null: one rank, one slice. Not
  // owned; its exchanges can fail, and its status tells.
  TensorAxis* tensor = nullptr;

  int64_t rows() const { return samples * tokens; }
  int64_t leaves() const { return samples / samples_per_leaf; }
  TensorShare share() const {
    return tensor == nullptr ? TensorShare{} : tensor->share();
  }
  bool sequence_parallel() const {
    return tensor != nullptr && tensor->sequence_parallel();
  }
  // Of the residual stream here: all rows, or a token slice of each sample.
  int64_t stream_tokens() const {
    return tensor == nullptr ? tokens : tensor->StreamTokens(tokens);
  }
  int64_t stream_rows() const { return samples * stream_tokens(); }
  // Rows of the stream in one leaf of a norm's weight gradient: a leaf's
  // samples, or where sums are cut the (sample, token slice) of N4.
  int64_t norm_leaf_rows() const {
    return share().slices == 1 ? samples_per_leaf * tokens
                               : tokens / share().slices;
  }
  StepContext In(Phase other) const {
    StepContext copy = *this;
    copy.phase = other;
    return copy;
  }
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_STEP_CONTEXT_H_
