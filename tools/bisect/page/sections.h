// The drawn sections of the page. Inside this folder only.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_SECTIONS_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_SECTIONS_H_

#include <string>

#include "tools/bisect/bisect.h"

namespace lockstep {

// Both runs over their steps: checkpoints, the replayed window, where they
// part.
std::string TimelineMarkup(const BisectResult& result);
// Where the tensor differs, and by how much.
std::string TensorMarkup(const BisectResult& result);
// Scopes down, ranks across.
std::string ScopesMarkup(const BisectResult& result);
// The first parting of each rank.
std::string RanksMarkup(const BisectResult& result);

extern const char kPageStyle[];

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_SECTIONS_H_
