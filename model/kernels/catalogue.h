// The registry as a page for people: CATALOGUE.md.
//
// What it is: the text, from AllKernels() alone. What it is not: written by
// hand; a test fails when the page and the registry differ. Why so: which
// operations exist, in which order they add and what they lack is then read
// from what runs. Nothing in it depends on the machine.

#ifndef MODEL_KERNELS_CATALOGUE_H_
#define MODEL_KERNELS_CATALOGUE_H_

#include <string>
#include <vector>

#include "model/kernels/registry.h"

namespace lockstep {

std::string CatalogueText(const std::vector<KernelInfo>& kernels);

}  // namespace lockstep

#endif  // MODEL_KERNELS_CATALOGUE_H_
