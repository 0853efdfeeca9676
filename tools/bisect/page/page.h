// What `bisect` found, as one page.
//
// What it is: HTML in one piece: no other file, no script, readable in print
// and in the dark: verdict, timeline, how sure, cause, the tensor as a picture,
// the scopes by rank, what the manifests say, how to do it again. What it is
// not: more than the result has: a picture of BisectResult. Why so: whoever is
// shown a divergence was not there when it was found.
//
// Sections, by id: verdict, timeline, sure, cause, tensor, scopes, ranks,
// differences, notes, commands; and fix, where one was checked. A section
// without contents says why it has none.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_H_

#include <string>

#include "tools/bisect/bisect.h"

namespace lockstep {

// `fix`: text of fix_check.h, a section `fix` behind the verdict; empty: none.
std::string BisectPage(const BisectResult& result, const std::string& fix = {});

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_H_
