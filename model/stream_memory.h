// Bytes that have to do with the residual stream, of whoever counts memory.
//
// What it is: the moment of a pass that memory is counted at, and what a stream
// takes beside itself where ranks share its tokens or its sums. What it is not:
// a layer (activation_memory.h). Why so: layers and head exchange streams
// alike.
#ifndef LOCKSTEP_MODEL_STREAM_MEMORY_H_
#define LOCKSTEP_MODEL_STREAM_MEMORY_H_

#include "model/cost_shape.h"

namespace lockstep {

inline constexpr double kFp32Bytes = 4;  // bytes

// Bytes at one moment of a pass.
struct MemoryMoment {
  double activations = 0;    // and their gradients
  double communication = 0;  // what is there only because ranks exchange it

  double total() const { return activations + communication; }
  MemoryMoment With(const MemoryMoment& more) const {
    return {activations + more.activations, communication + more.communication};
  }
};

inline void Raise(MemoryMoment& most, const MemoryMoment& moment) {
  if (moment.total() > most.total()) most = moment;
}

// Partial sums of a stream [samples, tokens, hidden] before ranks add them
// (linear.cc), and with their copy by parts (tensor_axis.cc).
inline double OnePartialSum(const CostShape& s, double samples) {
  return s.degree == 1 ? 0 : samples * s.tokens * s.hidden() * kFp32Bytes;
}
inline double PartialSums(const CostShape& s, double samples) {
  return (s.sequence && samples > 1 ? 2 : 1) * OnePartialSum(s, samples);
}

// The tokens of all ranks, gathered (stream.cc), and their parts.
inline double GatheredRoom(const CostShape& s) {
  return s.sequence ? s.whole_stream() : 0;
}
inline double Gathered(const CostShape& s) {
  return s.samples > 1 ? 2 * GatheredRoom(s) : GatheredRoom(s);
}

// fp32 leaves of a norm's weight gradient (norm.cc).
inline double NormLeaves(const CostShape& s) {
  const double leaf_rows = s.slices == 1 ? s.leaf_rows() : s.tokens / s.slices;
  return s.stream_rows() / leaf_rows * s.hidden() * kFp32Bytes;
}

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_STREAM_MEMORY_H_
