// What a case of the campaign plants, and what bisect is to say of it.
//
// Private to the campaign. A plan follows from the case's number and its kind
// of run; every kind of fault has its turn.
#ifndef LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_
#define LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "tests/bisect/campaign_places.h"

namespace lockstep {

// What is planted, and what bisect is to say of it.
struct Plan {
  Words faults;
  std::string kind = {};  // of case
  std::string verdict = "operation";
  int64_t step = 0;
  Place place = {};         // empty: not looked at
  Place producer = {};      // likewise; of a write that nobody announced
  std::string tensor = {};  // empty: any
  // Those that part at this operation; empty: not looked at.
  std::vector<int64_t> ranks = {};
  std::optional<int64_t> sample = {};
  int64_t resumed_at = 0;  // the launch with the fault goes on from this step
};

// Everything that a plan is drawn from.
struct Draw {
  const Layout& layout;
  std::string precision;
  int64_t step;
  const Dataset& data;
  int64_t cut;  // first layer of the second of two stages
  Dice& dice;
};

absl::StatusOr<Plan> PlanOf(int number, const Draw& draw);

// Of the case's kind, which may need one: names of layouts, and precisions.
// Empty: any.
Words LayoutsFor(int number);
Words PrecisionsFor(int number);

// All that a campaign is to have named, in the order of case numbers.
const Words& PlannedKinds();

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_
