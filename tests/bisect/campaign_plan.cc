#include "tests/bisect/campaign_plan.h"

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int64_t kBatch = 8;  // samples of a step, four of each replica

int64_t ASample(const Draw& draw) {
  return kBatch * (draw.step - 1) + static_cast<int64_t>(draw.dice(kBatch));
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

// What an earlier micro-batch left: the step's own, so that a replay has it.
Plan Stale(const Draw& draw) {
  Place place = AnyPlace(draw.dice);
  while (place.phase == "reduction") place = AnyPlace(draw.dice);
  Plan plan = PlanAt(draw, place);
  plan.faults = {
      absl::StrCat("kind=stale,occurrence=2,step=", draw.step, At(place))};
  return plan;
}

Plan OtherOrder(const Draw& draw) {
  const Place place = PlaceOfSums(draw.dice, draw.layout, draw.precision);
  Plan plan = PlanAt(draw, place);
  plan.faults = {absl::StrCat("kind=order,step=", draw.step, At(place))};
  return plan;
}

// Of a moment, in the first step after a load.
Plan WrongScale(const Draw& draw) {
  const std::string parameter = draw.dice.Of(
      Words{"backbone.layers.0.mixer.in_proj.weight",
            "backbone.layers.1.mixer.up_proj.weight",
            "backbone.layers.3.mixer.o_proj.weight", "lm_head.weight"});
  const std::string moment = draw.dice.Of(Words{"m", "v"});
  const Place place = {parameter, moment, "load"};
  return {.faults = {absl::StrCat("kind=scale,step=5", At(place))},
          .verdict = "state_after_load",
          .step = 5,
          .place = place,
          .tensor = absl::StrCat("optimizer/", parameter,
                                 moment == "m" ? ".exp_avg" : ".exp_avg_sq"),
          .resumed_at = 4};
}

Plan DroppedCollective(const Draw& draw) {
  const std::string name =
      draw.dice(2) == 0 ? "gradients.reduce_scatter" : "weights.all_gather";
  const Place place = {"", name.substr(name.find('.') + 1), "collective"};
  return {.faults = {absl::StrCat("kind=drop_collective,step=", draw.step,
                                  ",at=", name)},
          .step = draw.step,
          .place = place,
          .tensor = TensorAt(place)};
}

Plan SlippedStream(const Draw& draw) {
  const int64_t sample = ASample(draw);
  Plan plan = PlanAt(draw, {"layers.0", "residual", "forward"});
  plan.faults = {
      absl::StrCat("kind=rng_slip,step=", draw.step, ",sample=", sample)};
  if (draw.layout.name == "data") {
    plan.ranks = {sample % kBatch * 2 / kBatch};
  }
  return plan;
}

Plan SlippedCursor(const Draw& draw) {
  const int64_t sample = ASample(draw);
  return {.faults = {absl::StrCat("kind=skip_sample,step=", draw.step,
                                  ",sample=", sample,
                                  draw.dice(2) == 0 ? ",when=from" : "")},
          .verdict = "data",
          .step = draw.step,
          .sample = sample};
}

// A token in the midst of a sample, which no other sample has.
absl::StatusOr<Plan> ChangedDocument(const Draw& draw) {
  const int64_t sample = ASample(draw);
  LS_ASSIGN_OR_RETURN(const SampleLocation at,
                      draw.data.Locate(static_cast<uint64_t>(sample)));
  const auto inside = static_cast<size_t>(draw.data.sequence() - 1);
  const int64_t token =
      at.first_token + 1 + static_cast<int64_t>(draw.dice(inside));
  const TokenStore& file = draw.data.source(at.source).file();
  LS_ASSIGN_OR_RETURN(const int64_t document, file.DocumentOf(token));
  LS_ASSIGN_OR_RETURN(const int64_t start, file.DocumentStart(document));
  return Plan{.faults = {absl::StrCat(
                  "kind=document,when=from,step=2,source=", at.source,
                  ",document=", document, ",element=", token - start)},
              .verdict = "data",
              .step = draw.step,
              .sample = sample};
}

}  // namespace

const Words& PlannedKinds() {
  static const auto& kinds = *new Words{
      "flip",  "swap_rows",       "spike",    "stale",       "order",
      "scale", "drop_collective", "rng_slip", "skip_sample", "document"};
  return kinds;
}

// A list that each kind is in again and again.
absl::StatusOr<Plan> PlanOf(int number, const Draw& draw) {
  switch (number % 12) {
    case 1:
      return Damage(draw, "swap_rows");
    case 3:
      return Damage(draw, "spike");
    case 5:
      return Stale(draw);
    case 6:
      return OtherOrder(draw);
    case 7:
      return WrongScale(draw);
    case 8:
      return DroppedCollective(draw);
    case 9:
      return SlippedStream(draw);
    case 10:
      return SlippedCursor(draw);
    case 11:
      return ChangedDocument(draw);
    default:
      return Damage(draw, "flip");
  }
}

}  // namespace lockstep
