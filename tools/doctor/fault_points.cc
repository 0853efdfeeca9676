#include "tools/doctor/fault_points.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/fault.h"

namespace lockstep {
namespace {

std::vector<FaultPlace> Kinds() {
  std::vector<FaultPlace> kinds;
  for (int kind = 0; kind < kFaultKindCount; ++kind) {
    const auto k = static_cast<FaultKind>(kind);
    kinds.push_back({NameOf(k), WhatItDoes(k)});
  }
  return kinds;
}

std::vector<FaultPlace> Operations() {
  const char* both = "forward, backward";
  std::vector<FaultPlace> operations = {{"embeddings.lookup", both},
                                        {"layers.*.norm", both},
                                        {"layers.*.residual", both}};
  for (const char* name :
       {"in_proj", "conv1d", "ssd_scan", "norm", "out_proj", "qkv_proj",
        "attention", "o_proj", "up_proj", "squared_relu", "down_proj"}) {
    operations.push_back({absl::StrCat("layers.*.mixer.", name), both});
  }
  operations.insert(operations.end(),
                    {{"norm_f.norm", both},
                     {"lm_head.logits", both},
                     {"lm_head.loss", "forward"},
                     {"PARAMETER.gradient", "reduction"},
                     {"gradients.norm", "clip"},
                     {"PARAMETER.adamw", "optimizer"},
                     {"PARAMETER.master", "load, save"},
                     {"PARAMETER.m", "load, save"},
                     {"PARAMETER.v", "load, save"},
                     {"PARAMETER.convert", "conversion"},
                     {"PARAMETER.reduce_scatter", "collective"},
                     {"PARAMETER.all_gather", "collective"},
                     {"pipeline.forward.send", "message"},
                     {"pipeline.forward.receive", "message"},
                     {"pipeline.backward.send", "message"},
                     {"pipeline.backward.receive", "message"}});
  return operations;
}

std::string Section(const std::string& title,
                    const std::vector<FaultPlace>& places) {
  std::string text = title + "\n";
  for (const FaultPlace& place : places) {
    absl::StrAppendFormat(&text, "  %-30s %s\n", place.at, place.what);
  }
  return text;
}

}  // namespace

FaultPlaces AllFaultPlaces() {
  return {
      Kinds(),
      {{"step.begin", "before a step reads its samples; the default place"},
       {"micro.end", "after a micro-batch's backward pass"},
       {"grad.end", "after gradients are final, before the update"},
       {"step.end", "after the counters moved"}},
      {{"save.NOUN.CALL",
        "CALL: create, write, flush, sync, close, rename, sync_dir, mkdir, "
        "remove"},
       {"load.NOUN.CALL", "CALL: open, read, map, list, stat"},
       {"NOUN",
        "shard, index, manifest, ledger, metrics, eval, trace, tokens, step, "
        "old_step, lock, checkpoints"}},
      Operations()};
}

std::string FaultPlacesText() {
  const FaultPlaces places = AllFaultPlaces();
  return Section("kinds (kind=...)", places.kinds) +
         Section("points (at=...)", places.points) +
         Section("file calls (at=...)", places.files) +
         Section("operations (at=SCOPE.OPERATION, phase=...)",
                 places.operations) +
         "example: --fault "
         "kind=flip,step=7,at=layers.3.mixer.in_proj,phase=backward,"
         "element=5,bit=9\n";
}

std::string FaultPlacesJson() {
  using Json = nlohmann::ordered_json;
  const auto list = [](const std::vector<FaultPlace>& places) {
    Json json = Json::array();
    for (const FaultPlace& p : places) {
      json.push_back({{"at", p.at}, {"what", p.what}});
    }
    return json;
  };
  const FaultPlaces places = AllFaultPlaces();
  return Json{{"kinds", list(places.kinds)},
              {"points", list(places.points)},
              {"files", list(places.files)},
              {"operations", list(places.operations)}}
             .dump() +
         "\n";
}

}  // namespace lockstep
