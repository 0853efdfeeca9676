// memcpy for what nobody reads soon: past the caches. Inside ckpt only.
//
// A store into a cache first reads the line that it is about to overwrite, so
// a plain copy of a small block moves three bytes for two; the block that was
// read stays in the cache for whoever looks at it next.

#ifndef CKPT_STREAM_COPY_H_
#define CKPT_STREAM_COPY_H_

#include <cstddef>

namespace lockstep {

// The two do not overlap. Other threads see the bytes once this one has
// synchronised with them.
void StreamCopy(void* to, const void* from, size_t bytes);

}  // namespace lockstep

#endif  // CKPT_STREAM_COPY_H_
