// Which of the settings that differ may have moved the bits of a step.
//
// What it is: the step's own line first (a learning-rate curve acts through the
// rate, and data or a batch through the samples that a step reads), and for
// other settings those of run a, with which run b's step can be done again.
// What it is not: that replay (bisection_settings.cc). Why so: a key that must
// change bits some day need not have changed this step's, and taken for the
// answer it would hide an operation that did.
#ifndef LOCKSTEP_TOOLS_BISECT_SETTINGS_TRIAL_H_
#define LOCKSTEP_TOOLS_BISECT_SETTINGS_TRIAL_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/bisect/evidence.h"

namespace lockstep {

// Takes `explains` from keys whose effect would stand in the step's line and
// does not; those keys.
std::vector<std::string> AcquitByFields(Evidence& evidence);

// "key=value" of run a, of all that explains. None where something explains
// that is no setting to try: other data, another model or seed, or what the
// step's line shows at work.
std::optional<std::vector<std::string>> TrialOf(const Evidence& evidence);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_SETTINGS_TRIAL_H_
