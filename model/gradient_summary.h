// What is asked of the final gradients of a step, in one reading of them.
//
// What it is: the exact sum of their squares and, if asked for, their
// fingerprints, piece by piece while a piece is in cache. What it is not: a
// norm (optimizer.h) or a field of a step (tools/step_fingerprint.h): those are
// of all ranks. Why so: a gradient that is read twice is fetched from memory
// twice.
#ifndef LOCKSTEP_MODEL_GRADIENT_SUMMARY_H_
#define LOCKSTEP_MODEL_GRADIENT_SUMMARY_H_

#include <vector>

#include "determinism/exact_sum.h"
#include "determinism/fingerprint.h"
#include "model/device.h"
#include "model/parameters.h"

namespace lockstep {

// Of the owned rows, each logical parameter on one rank: copies are left out.
struct GradientSummary {
  ExactSum squares;
  // One a parameter of the store, zero of copies; empty if not asked for.
  std::vector<Fingerprint> fingerprints = {};
};

GradientSummary SummariseGradients(Device& device, const ParameterStore& store,
                                   bool fingerprints);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_SUMMARY_H_
