// Whether the size of a micro-batch decides which samples a replica has. Inside
// ckpt only.

#ifndef CKPT_UNEVEN_SHARES_H_
#define CKPT_UNEVEN_SHARES_H_

#include "ckpt/manifest.h"

namespace lockstep {

// Some replicas have a micro-batch more than others (or may have, under a
// schedule of batches): with another size their samples are others.
bool HasUnevenShares(const Manifest& manifest);

}  // namespace lockstep

#endif  // CKPT_UNEVEN_SHARES_H_
