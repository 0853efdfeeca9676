#include "tests/bisect/campaign_damage.h"

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

// A bit of a number that is neither lost in rounding nor out of all measure.
std::string Bit(const Draw& draw, bool narrow) {
  return absl::StrCat(",bit=", narrow ? 3 + draw.dice(8) : 12 + draw.dice(14));
}

// Of an operation that every rank of the layout does that has it.
std::vector<int64_t> RanksThatDo(const Draw& draw, const Place& place) {
  if (draw.layout.ranks == 1) return {0};
  if (draw.layout.name == "pipeline") {
    const int64_t stage = StageOf(place.scope, draw.cut);
    return stage < 0 ? std::vector<int64_t>() : std::vector<int64_t>{stage};
  }
  // Elsewhere an element may lie on one of them.
  return {};
}

}  // namespace

Plan PlanAt(const Draw& draw, const Place& place) {
  return {.faults = {},
          .step = draw.step,
          .place = place,
          .tensor = TensorAt(place),
          .ranks = RanksThatDo(draw, place)};
}

// A flipped bit, swapped rows, or a number that is too large.
Plan Damage(const Draw& draw, const std::string& kind) {
  Dice& dice = draw.dice;
  const Place place = AnyPlace(dice);
  Plan plan = PlanAt(draw, place);
  std::string fault = absl::StrCat("kind=", kind, ",step=", draw.step,
                                   At(place), ",element=", dice(400));
  if (draw.layout.name == "data" && place.phase != "reduction") {
    plan.ranks = {static_cast<int64_t>(dice(2))};
    absl::StrAppend(&fault, ",rank=", plan.ranks[0]);
  }
  if (kind == "spike") absl::StrAppend(&fault, ",factor=1.5");
  if (kind == "flip") {
    absl::StrAppend(&fault, ",bit=",
                    draw.precision == "fp32" ? 12 + dice(14) : 3 + dice(8));
  }
  plan.faults = {fault};
  return plan;
}

Plan WrongLoss(const Draw& draw) {
  Plan plan = PlanAt(draw, {"lm_head", "loss", "forward"});
  plan.faults = {absl::StrCat("kind=flip,step=", draw.step, At(plan.place),
                              ",element=", draw.dice(30), Bit(draw, false))};
  if (draw.layout.name == "data") {
    plan.ranks = {static_cast<int64_t>(draw.dice(2))};
    absl::StrAppend(&plan.faults[0], ",rank=", plan.ranks[0]);
  }
  return plan;
}

// All ranks have it.
Plan WrongNorm(const Draw& draw) {
  Plan plan = PlanAt(draw, {"gradients", "norm", "clip"});
  for (int64_t rank = 0; rank < draw.layout.ranks; ++rank) {
    if (plan.ranks.size() < static_cast<size_t>(draw.layout.ranks)) {
      plan.ranks.push_back(rank);
    }
  }
  plan.faults = {absl::StrCat(
      "kind=spike,factor=1.5,element=0,step=", draw.step, At(plan.place))};
  return plan;
}

Plan WrongUpdate(const Draw& draw) {
  Plan plan = PlanAt(draw, {AnyWeight(draw.dice), "adamw", "optimizer"});
  plan.ranks.clear();  // who owns the element
  plan.faults = {absl::StrCat("kind=flip,step=", draw.step, At(plan.place),
                              ",element=", draw.dice(400), Bit(draw, false))};
  return plan;
}

// Of a product's weight, which is none of fp32 where products are not.
Plan WrongConversion(const Draw& draw) {
  std::string parameter = AnyWeight(draw.dice);
  while (parameter.find(".mixer.") == std::string::npos) {
    parameter = AnyWeight(draw.dice);
  }
  const Place place = {parameter, "convert", "conversion"};
  return {.faults = {absl::StrCat("kind=scale,step=5", At(place))},
          .verdict = "state_after_load",
          .step = 5,
          .place = place,
          .tensor = TensorAt(place),
          .resumed_at = 4};
}

// What arrives is not what was sent, or what is sent not what was computed.
Plan WrongMessage(const Draw& draw) {
  const bool forward = draw.dice(2) == 0, sent = draw.dice(2) == 0;
  Plan plan = PlanAt(draw, {forward ? "pipeline.forward" : "pipeline.backward",
                            sent ? "send" : "receive", "message"});
  plan.ranks = {forward == sent ? 0 : 1};
  if (!sent) plan.verdict = "changed_between";
  plan.faults = {absl::StrCat("kind=flip,step=", draw.step, At(plan.place),
                              ",element=", draw.dice(400),
                              Bit(draw, draw.precision != "fp32"))};
  return plan;
}

// A sum of gradients, or a replica's copy of weights that another owns.
Plan WrongCollective(const Draw& draw) {
  const bool sum = draw.dice(2) == 0;
  Plan plan =
      PlanAt(draw, {AnyWeight(draw.dice), sum ? "reduce_scatter" : "all_gather",
                    "collective"});
  plan.ranks.clear();
  plan.faults = {absl::StrCat("kind=flip,step=", draw.step, At(plan.place),
                              ",element=", draw.dice(400))};
  if (sum) {
    absl::StrAppend(&plan.faults[0], ",bit=", 18 + draw.dice(8));
  } else {
    plan.ranks = {draw.layout.ranks - 1};
    absl::StrAppend(&plan.faults[0], Bit(draw, draw.precision != "fp32"),
                    ",rank=", plan.ranks[0]);
  }
  return plan;
}

Plan WrongRecompute(const Draw& draw) {
  Plan plan = PlanAt(draw, AnyPlaceOfRecompute(draw.dice));
  plan.faults = {absl::StrCat("kind=flip,step=", draw.step, At(plan.place),
                              ",element=", draw.dice(400),
                              Bit(draw, draw.precision != "fp32"))};
  return plan;
}

Plan LateWrite(const Draw& draw) {
  const Place producer = AnyPlaceOfWholeOutput(draw.dice);
  return {.faults = {absl::StrCat("kind=flip,late=yes,step=", draw.step,
                                  At(producer), ",element=", draw.dice(400),
                                  Bit(draw, draw.precision != "fp32"))},
          .verdict = "changed_between",
          .step = draw.step,
          .producer = producer};
}

}  // namespace lockstep
