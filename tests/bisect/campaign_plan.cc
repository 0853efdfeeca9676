#include "tests/bisect/campaign_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/bisect/campaign_damage.h"

namespace lockstep {
namespace {

constexpr int64_t kBatch = 8;  // samples of a step, four of each replica

int64_t ASample(const Draw& draw) {
  return kBatch * (draw.step - 1) + static_cast<int64_t>(draw.dice(kBatch));
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

absl::StatusOr<Plan> Of(Plan plan) { return plan; }

struct Case {
  const char* kind;
  absl::StatusOr<Plan> (*plan)(const Draw&);
  Words layouts = {}, precisions = {};
};

// In turn. Conversions are of weights that are no masters.
const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>{
      {"flip", [](const Draw& d) { return Of(Damage(d, "flip")); }},
      {"swap_rows", [](const Draw& d) { return Of(Damage(d, "swap_rows")); }},
      {"loss", [](const Draw& d) { return Of(WrongLoss(d)); }},
      {"spike", [](const Draw& d) { return Of(Damage(d, "spike")); }},
      {"clip", [](const Draw& d) { return Of(WrongNorm(d)); }},
      {"stale", [](const Draw& d) { return Of(Stale(d)); }},
      {"order", [](const Draw& d) { return Of(OtherOrder(d)); }},
      {"scale", [](const Draw& d) { return Of(WrongScale(d)); }},
      {"drop_collective",
       [](const Draw& d) { return Of(DroppedCollective(d)); },
       {"data", "four"}},
      {"rng_slip", [](const Draw& d) { return Of(SlippedStream(d)); }},
      {"skip_sample", [](const Draw& d) { return Of(SlippedCursor(d)); }},
      {"document", [](const Draw& d) { return ChangedDocument(d); }},
      {"adamw", [](const Draw& d) { return Of(WrongUpdate(d)); }},
      {"conversion",
       [](const Draw& d) { return Of(WrongConversion(d)); },
       {},
       {"bf16", "fp16"}},
      {"message",
       [](const Draw& d) { return Of(WrongMessage(d)); },
       {"pipeline"}},
      {"collective",
       [](const Draw& d) { return Of(WrongCollective(d)); },
       {"data", "four"}},
      {"recompute",
       [](const Draw& d) { return Of(WrongRecompute(d)); },
       {"recompute"}},
      {"late", [](const Draw& d) { return Of(LateWrite(d)); }},
      {"four ranks",
       [](const Draw& d) { return Of(Damage(d, "flip")); },
       {"four"}}};
  return cases;
}

const Case& CaseOf(int number) {
  return Cases()[static_cast<size_t>(number) % Cases().size()];
}

}  // namespace

const Words& PlannedKinds() {
  static const auto& kinds = *new Words([] {
    Words all;
    for (const Case& c : Cases()) all.emplace_back(c.kind);
    return all;
  }());
  return kinds;
}

Words LayoutsFor(int number) { return CaseOf(number).layouts; }
Words PrecisionsFor(int number) { return CaseOf(number).precisions; }

absl::StatusOr<Plan> PlanOf(int number, const Draw& draw) {
  LS_ASSIGN_OR_RETURN(Plan plan, CaseOf(number).plan(draw));
  plan.kind = CaseOf(number).kind;
  return plan;
}

}  // namespace lockstep
