#include "tests/bisect/campaign_places.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

bool IsMlp(size_t layer) { return layer == 1 || layer == 4; }

std::string Mixer(size_t layer) {
  return absl::StrCat("layers.", layer, ".mixer");
}

Words OperationsOf(size_t layer) {
  if (IsMlp(layer)) return {"up_proj", "squared_relu", "down_proj"};
  if (layer == 3) return {"qkv_proj", "attention", "o_proj"};
  return {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj"};
}

// Into the mixer, and out of it.
std::pair<std::string, std::string> ProjectionsOf(size_t layer) {
  if (IsMlp(layer)) return {"up_proj", "down_proj"};
  if (layer == 3) return {"qkv_proj", "o_proj"};
  return {"in_proj", "out_proj"};
}

}  // namespace

const std::vector<Layout>& Layouts() {
  static const auto& layouts = *new std::vector<Layout>{
      {"one", 1, {}},
      {"data", 2, {"parallel.data=2"}},
      {"tensor", 2, {"parallel.tensor=2", "guarantee=layout_invariant"}},
      {"sequence", 2, {"parallel.tensor=2", "parallel.sequence=true"}},
      {"pipeline", 2, {"parallel.pipeline=2", "guarantee=layout_invariant"}},
      {"recompute", 1, {"train.recompute=true"}},
      {"four", 4, {"parallel.data=2", "parallel.tensor=2"}}};
  return layouts;
}

std::string At(const Place& place) {
  return absl::StrCat(",at=", place.scope, ".", place.operation, ".",
                      place.phase);
}

Place AnyPlace(Dice& dice) {
  const std::string phase = dice(2) == 0 ? "forward" : "backward";
  const size_t kind = dice(8), layer = dice(5);
  if (kind == 0) return {"embeddings", "lookup", "forward"};
  if (kind == 1) return {"lm_head", "logits", phase};
  if (kind == 2) return {"norm_f", "norm", phase};
  if (kind == 3) {
    return {absl::StrCat("layers.", layer), dice(2) == 0 ? "norm" : "residual",
            phase};
  }
  if (kind > 4) return {Mixer(layer), dice.Of(OperationsOf(layer)), phase};
  const std::string weight =
      layer == 3 ? std::string("o_proj") : ProjectionsOf(layer).first;
  return {absl::StrCat("backbone.", Mixer(layer), ".", weight, ".weight"),
          "gradient", "reduction"};
}

std::string AnyWeight(Dice& dice) {
  const size_t layer = dice(7);
  if (layer == 5) return "lm_head.weight";
  if (layer == 6) return "backbone.embeddings.weight";
  const auto [in, out] = ProjectionsOf(layer);
  const std::string weight = layer == 3 || dice(2) == 0 ? out : in;
  return absl::StrCat("backbone.", Mixer(layer), ".", weight, ".weight");
}

Place AnyPlaceOfWholeOutput(Dice& dice) {
  const size_t layer = dice(5);
  // A Mamba-2 projection's is read in parts.
  Words all = {"norm"};
  if (IsMlp(layer)) all = {"up_proj", "squared_relu"};
  if (layer == 3) all = {"qkv_proj", "attention"};
  return {Mixer(layer), dice.Of(all), "forward"};
}

Place AnyPlaceOfRecompute(Dice& dice) {
  const size_t layer = dice(5);
  return {Mixer(layer), dice.Of(OperationsOf(layer)), "recompute"};
}

Place PlaceOfSums(Dice& dice, const Layout& layout,
                  const std::string& precision) {
  const size_t layer = dice(5);
  if (precision == "fp32" && dice(3) == 0) {
    return {layer == 0 ? "norm_f" : absl::StrCat("layers.", layer), "norm",
            "forward"};
  }
  // Tensor ranks have parts of what goes out of a mixer, and backward of what
  // goes into one.
  const bool cut = layout.name == "tensor" || layout.name == "sequence" ||
                   layout.name == "four";
  const auto [in, out] = ProjectionsOf(layer);
  const bool forward = dice(2) == 0, first = cut ? forward : dice(2) == 0;
  return {Mixer(layer), first ? in : out, forward ? "forward" : "backward"};
}

std::string TensorAt(const Place& place) {
  const bool forward = place.phase == "forward" || place.phase == "recompute";
  const bool gated = place.scope.ends_with(".mixer");
  const std::string& operation = place.operation;
  if (operation == "gradient") return "grad";
  if (operation == "reduce_scatter") return "sum";
  if (operation == "all_gather") return "runtime";
  if (operation == "lookup") return "x";
  if (operation == "loss") return "loss";
  if (operation == "adamw") return "master";
  if (operation == "convert") return "runtime";
  if (operation == "send" || operation == "receive") return "stream";
  if (place.phase == "clip") return "norm";
  if (operation == "residual") return "out";
  if (operation == "logits") return forward ? "logits" : "dx";
  if (operation == "norm" && gated) return forward ? "out" : "dy";
  if (operation == "ssd_scan") return forward ? "y" : "dxbc";
  if (operation == "attention") return forward ? "o" : "dqkv";
  return forward ? "y" : "dx";
}

int64_t StageOf(const std::string& scope, int64_t cut) {
  if (scope == "embeddings") return 0;
  if (scope == "lm_head" || scope == "norm_f") return 1;
  const size_t from = scope.find("layers.");
  int64_t layer = 0;
  if (from == std::string::npos ||
      !absl::SimpleAtoi(scope.substr(from + 7, 1), &layer)) {
    return -1;
  }
  return layer < cut ? 0 : 1;
}

}  // namespace lockstep
