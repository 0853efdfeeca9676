// One element of a tensor as people read it, and how far two are apart. Inside
// ckpt only.

#ifndef CKPT_ELEMENT_TEXT_H_
#define CKPT_ELEMENT_TEXT_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"

namespace lockstep {

// "0.1 (3dcccccd)": of floats also the bits.
std::string ElementText(DType dtype, const char* element);

// Representable numbers from one to the other; of integers their distance.
uint64_t ElementDistance(DType dtype, const char* a, const char* b);

}  // namespace lockstep

#endif  // CKPT_ELEMENT_TEXT_H_
