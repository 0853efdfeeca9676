// `--fault kind=document`: one changed document, where a step reads it.
//
// What it is: the tokens of a step's samples, changed where they hold the token
// that a fault names. What it is not: the order to do so (determinism/fault.h),
// which knows no documents, or a change of a file. Why so: a corpus that is
// not what it was is the commonest cause of a run that does not recur, and what
// is to find that must be shown to find it.
#ifndef LOCKSTEP_TOOLS_DOCUMENT_FAULT_H_
#define LOCKSTEP_TOOLS_DOCUMENT_FAULT_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "data/dataset.h"
#include "determinism/fault.h"

namespace lockstep {

// `tokens_ST1` are those of the samples `read`, one row of T + 1 each; a hit
// becomes the next id of the vocabulary. InputError for a source, a document or
// a token that there is not.
absl::Status ChangeDocuments(const Dataset& dataset,
                             std::span<const uint64_t> read, FaultPlan& faults,
                             std::span<int32_t> tokens_ST1);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCUMENT_FAULT_H_
