// What a step announces beside its layers' operations: state, and what ranks
// exchange.
//
// What it is: the tensors of a load, a conversion, a save and of the
// collectives of the data axis, told to the hooks one parameter at a time, so
// that traces show them and planted faults can break them. What it is not: the
// moves themselves. Why so: between two operations that are sound something
// else may have touched the numbers, and what nobody announces nobody can name.
#ifndef LOCKSTEP_MODEL_ANNOUNCE_H_
#define LOCKSTEP_MODEL_ANNOUNCE_H_

#include <string_view>

#include "determinism/operation.h"
#include "model/optimizer.h"
#include "model/parameters.h"
#include "model/step_context.h"

namespace lockstep {

// The owned rows of a parameter, fp32 at `data`.
TensorRef OwnedRef(std::string_view name, const ParameterStore& store,
                   const Parameter& parameter, void* data);

// PARAMETER.master, PARAMETER.m and PARAMETER.v, in the context's phase.
void AnnounceState(const StepContext& context, ParameterStore& store,
                   const Optimizer& optimizer);
// PARAMETER.convert: the owned rows as they are at run time.
void AnnounceConversion(const StepContext& context, ParameterStore& store);
// PARAMETER.reduce_scatter: the owned rows' sum over all replicas.
void AnnounceSums(const StepContext& context, ParameterStore& store);
// PARAMETER.all_gather: run-time weights of all rows that are held.
void AnnounceWeights(const StepContext& context, ParameterStore& store);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_ANNOUNCE_H_
