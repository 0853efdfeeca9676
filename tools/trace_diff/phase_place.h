// What the comparison of traces knows of phases.
//
// What it is: which phases come before which in a step, and which say nothing
// about the way a run took. What it is not: an alignment, which is by identity.
// Why so: ranks come to the same phase at different places of their traces, a
// resumed run loads where a straight one does not, and another layout sends
// other messages.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_PHASE_PLACE_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_PHASE_PLACE_H_

#include <string_view>

namespace lockstep {

// Ascending in the order in which a step comes to them; forward, backward and
// messages take turns and have one number. What follows the step is last.
int PlaceInStep(std::string_view phase, std::string_view operation);

// Of a launch or a checkpoint, not of the step: one run may have it alone.
bool IsOfLaunch(std::string_view phase);
// What ranks exchange, which is another thing on another layout.
bool IsExchange(std::string_view phase);
// A message that came in: what it brings, another rank has sent.
bool IsReceive(std::string_view phase, std::string_view operation);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_PHASE_PLACE_H_
