#include "tests/bisect/campaign_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace lockstep {

const std::vector<Layout>& Layouts() {
  static const auto& layouts = *new std::vector<Layout>{
      {"one", 1, {}},
      {"data", 2, {"parallel.data=2"}},
      {"tensor", 2, {"parallel.tensor=2", "guarantee=layout_invariant"}},
      {"sequence", 2, {"parallel.tensor=2", "parallel.sequence=true"}},
      {"pipeline", 2, {"parallel.pipeline=2", "guarantee=layout_invariant"}},
      {"recompute", 1, {"train.recompute=true"}}};
  return layouts;
}

namespace {

Place PlaceOf(Dice& dice) {
  const std::string phase = dice(2) == 0 ? "forward" : "backward";
  const size_t kind = dice(8);
  if (kind == 0) return {"embeddings", "lookup", "forward"};
  if (kind == 1) return {"lm_head", "logits", phase};
  if (kind == 2) return {"norm_f", "norm", phase};
  if (kind == 3) {
    const std::string layer = absl::StrCat("layers.", dice(5));
    return {layer, dice(2) == 0 ? "norm" : "residual", phase};
  }
  const std::vector<std::pair<int, Words>> mixers = {
      {0, {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj"}},
      {1, {"up_proj", "squared_relu", "down_proj"}},
      {2, {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj"}},
      {3, {"qkv_proj", "attention", "o_proj"}},
      {4, {"up_proj", "squared_relu", "down_proj"}}};
  const auto& [layer, operations] = dice.Of(mixers);
  if (kind == 4) {
    const std::string weight = layer == 1 || layer == 4 ? "up_proj"
                               : layer == 3             ? "o_proj"
                                                        : "in_proj";
    return {
        absl::StrCat("backbone.layers.", layer, ".mixer.", weight, ".weight"),
        "gradient", "reduction"};
  }
  return {absl::StrCat("layers.", layer, ".mixer"), dice.Of(operations), phase};
}

std::string At(const Place& place) {
  return absl::StrCat(",at=", place.scope, ".", place.operation, ".",
                      place.phase);
}

// A flipped bit, swapped rows, or a number that is too large.
Plan Damage(const Draw& draw) {
  Dice& dice = draw.dice;
  const Place place = PlaceOf(dice);
  Plan plan = {.faults = {}, .step = draw.step, .place = place};
  std::string rest =
      absl::StrCat(",step=", draw.step, At(place), ",element=", dice(400));
  if (draw.layout.name == "data" && place.phase != "reduction") {
    plan.rank = static_cast<int64_t>(dice(2));
    absl::StrAppend(&rest, ",rank=", *plan.rank);
  }
  const size_t kind = dice(6);
  if (kind == 0) {
    plan.faults = {"kind=swap_rows" + rest};
  } else if (kind == 1) {
    plan.faults = {"kind=spike,factor=1.5" + rest};
  } else {
    const size_t bit = draw.precision == "fp32" ? 12 + dice(14) : 3 + dice(8);
    plan.faults = {absl::StrCat("kind=flip,bit=", bit, rest)};
  }
  return plan;
}

// What an earlier micro-batch left: the step's own, so that a replay has it.
Plan Stale(const Draw& draw) {
  Place place = PlaceOf(draw.dice);
  while (place.phase == "reduction") place = PlaceOf(draw.dice);
  return {.faults = {absl::StrCat("kind=stale,occurrence=2,step=", draw.step,
                                  At(place))},
          .step = draw.step,
          .place = place};
}

// Another order of a kernel: of one that has all terms on every rank.
Plan OtherOrder(const Draw& draw) {
  const std::vector<Place> products = {
      {"layers.0.mixer", "in_proj", "forward"},
      {"layers.1.mixer", "up_proj", "forward"},
      {"layers.2.mixer", "in_proj", "forward"},
      {"layers.3.mixer", "qkv_proj", "forward"},
      {"layers.4.mixer", "up_proj", "forward"}};
  const Place& place = draw.dice.Of(products);
  return {.faults = {absl::StrCat("kind=order,step=", draw.step, At(place))},
          .step = draw.step,
          .place = place};
}

Plan WrongScale(const Draw& draw) {
  const Place place = {
      draw.dice.Of(Words{"backbone.layers.0.mixer.in_proj.weight",
                         "backbone.layers.1.mixer.up_proj.weight",
                         "backbone.layers.3.mixer.o_proj.weight",
                         "lm_head.weight"}),
      draw.dice.Of(Words{"m", "v"}), "load"};
  return {.faults = {absl::StrCat("kind=scale,step=5", At(place))},
          .verdict = "state_after_load",
          .step = 5,
          .place = place,
          .resumed_at = 4};
}

Plan DroppedCollective(const Draw& draw) {
  const std::string name =
      draw.dice(2) == 0 ? "gradients.reduce_scatter" : "weights.all_gather";
  return {.faults = {absl::StrCat("kind=drop_collective,step=", draw.step,
                                  ",at=", name)},
          .step = draw.step,
          .place = {"", name.substr(name.find('.') + 1), "collective"}};
}

Plan SlippedStream(const Draw& draw) {
  const auto sample = static_cast<int64_t>(8 * (draw.step - 1)) +
                      static_cast<int64_t>(draw.dice(8));
  return {.faults = {absl::StrCat("kind=rng_slip,step=", draw.step,
                                  ",sample=", sample)},
          .step = draw.step,
          .place = {"layers.0", "residual", "forward"}};
}

Plan SlippedCursor(const Draw& draw) {
  const auto sample = static_cast<int64_t>(8 * (draw.step - 1)) +
                      static_cast<int64_t>(draw.dice(8));
  return {.faults = {absl::StrCat("kind=skip_sample,step=", draw.step,
                                  ",sample=", sample,
                                  draw.dice(2) == 0 ? ",when=from" : "")},
          .verdict = "data",
          .step = draw.step,
          .sample = sample};
}

// Wherever a step reads some of it.
Plan ChangedDocument(const Draw& draw) {
  Plan plan = {.faults = {}, .verdict = "data"};
  const size_t document = draw.dice(20);
  for (int token = 16; token < 512; token += 32) {
    plan.faults.push_back(
        absl::StrCat("kind=document,when=from,step=2,document=", document,
                     ",element=", token));
  }
  return plan;
}

}  // namespace

// A list that each kind is in again and again.
Plan PlanOf(int number, const Draw& draw) {
  switch (number % 12) {
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
      return Damage(draw);
  }
}

}  // namespace lockstep
