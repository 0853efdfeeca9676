// A copy of state as fast as memory goes: the probe of the copy that steps wait
// for.
#ifndef LOCKSTEP_TOOLS_BENCH_PLAIN_COPY_H_
#define LOCKSTEP_TOOLS_BENCH_PLAIN_COPY_H_

#include "ckpt/snapshot.h"
#include "parallel/thread_pool.h"

namespace lockstep {

// memcpy of all tensors, as many bytes a thread, in calls as long as can be.
// Both have the same entries.
void CopyPlainly(const Snapshot& to, const Snapshot& from, ThreadPool& pool);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_PLAIN_COPY_H_
