// The modules that a trace can be narrowed to.
//
// What it is: the paths of a model's modules as its operations announce them.
// What it is not: a list of operations. Why so: a trace of a module that there
// is not has no record, and would look like a run that did nothing.
#ifndef LOCKSTEP_TOOLS_TRACE_SCOPES_H_
#define LOCKSTEP_TOOLS_TRACE_SCOPES_H_

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

// `scope` itself where operations of a model of so many layers can be of it or
// of what is below it, else the nearest that there is.
std::string NearestTraceScope(const std::string& scope, size_t layers);

// What to say where it is another; else nothing.
std::vector<std::string> TraceScopeNotes(const std::string& scope,
                                         size_t layers);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_SCOPES_H_
