// Cases of the campaign that damage one tensor of a step.
//
// Private to the campaign: what each plants, and what a trace shows of it.
#ifndef LOCKSTEP_TESTS_BISECT_CAMPAIGN_DAMAGE_H_
#define LOCKSTEP_TESTS_BISECT_CAMPAIGN_DAMAGE_H_

#include <string>

#include "tests/bisect/campaign_plan.h"

namespace lockstep {

// Without faults.
Plan PlanAt(const Draw& draw, const Place& place);

// Of an operation of a pass or a final gradient: `kind` is flip, swap_rows or
// spike.
Plan Damage(const Draw& draw, const std::string& kind);
Plan WrongLoss(const Draw& draw);
Plan WrongNorm(const Draw& draw);
Plan WrongUpdate(const Draw& draw);
Plan WrongConversion(const Draw& draw);
Plan WrongMessage(const Draw& draw);
Plan WrongCollective(const Draw& draw);
Plan WrongRecompute(const Draw& draw);
// Behind the back of all who listen.
Plan LateWrite(const Draw& draw);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_CAMPAIGN_DAMAGE_H_
