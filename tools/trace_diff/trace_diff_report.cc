// Text and JSON of `trace diff`.
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/trace_diff/identity_json.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

std::string Sentence(const TraceDifference& d) {
  const RankParting& p = d.first;
  switch (p.kind) {
    case Parting::kNone:
      if (d.ends_early()) return "all that both have is equal";
      return "all that was captured is equal; if the runs differ, it is "
             "outside of the capture: trace more steps, or with inputs";
    case Parting::kControlFlow:
      return absl::StrCat("only ", p.only_in_a ? "A" : "B",
                          " did this operation: the runs took different ways");
    case Parting::kOrigin:
      return absl::StrCat("here they part: equal inputs, and `", p.tensor,
                          "` differs");
    case Parting::kBetween:
      return absl::StrCat("input `", p.tensor,
                          "` is not what its producer left (",
                          ToString(p.producer),
                          "): something changed it in between, or an operation "
                          "that no trace shows");
    case Parting::kUnknownInputs:
      return absl::StrCat("`", p.tensor,
                          "` differs, and this operation's inputs are not in "
                          "the trace");
    case Parting::kReceiver:
      if (p.sums_untraced) {
        return absl::StrCat(
            "`", p.tensor,
            "` differs, which adds up what several ranks have, and not all of "
            "these are traced: they part here or on one of those, maybe "
            "earlier: trace all ranks");
      }
      return absl::StrCat(
          "already input `", p.tensor,
          "` differs, and what made it was not captured: widen "
          "the capture (earlier steps, more ranks, all scopes)");
    case Parting::kShape:
      return absl::StrCat("the same operation on tensors of another kind: `",
                          p.tensor, "`");
  }
  return "";
}

std::string TensorText(const TracedTensor& t) {
  return absl::StrCat(t.dtype, " [", absl::StrJoin(t.shape, ","), "] ",
                      t.value.Hex());
}

std::string RanksText(const TraceDifference& d) {
  if (d.across_layouts) return "two layouts, compared by whole tensors";
  if (d.ranks.size() == d.partings.size()) {
    return d.ranks.size() == 1 ? "" : "on every rank";
  }
  return absl::StrCat(d.ranks.size() == 1 ? "on rank " : "on ranks ",
                      absl::StrJoin(d.ranks, ", "), " of ", d.partings.size());
}

Json TensorJson(const TracedTensor& t) {
  return {
      {"dtype", t.dtype}, {"shape", t.shape}, {"fingerprint", t.value.Hex()}};
}

Json EndJson(const std::optional<CaptureEnd>& end) {
  if (!end) return nullptr;
  return {
      {"step", end->step}, {"in_step", end->in_step}, {"beyond", end->beyond}};
}

std::string EndText(const TraceDifference& d) {
  std::string text;
  for (const auto& [end, here, other] :
       {std::tuple(&d.end_a, "A", "B"), {&d.end_b, "B", "A"}}) {
    if (!*end) continue;
    absl::StrAppend(&text, "the trace of ", here, " ", ToString(**end),
                    ", and ", other, "'s goes on: ", (*end)->beyond,
                    " of its operations are not compared\n");
  }
  return text;
}

const char* VerdictOf(const TraceDifference& d) {
  return d.equal() && d.ends_early() ? "ends_early" : NameOf(d.first.kind);
}

Json PartingJson(const RankParting& p) {
  return {{"rank", p.rank},
          {"verdict", NameOf(p.kind)},
          {"operation", p.kind == Parting::kNone ? "" : ToString(p.identity)}};
}

}  // namespace

std::string TraceDifferenceText(const TraceDifference& d) {
  std::string text = absl::StrCat(VerdictOf(d), "\n");
  if (!d.equal()) {
    absl::StrAppend(&text, ToString(d.first.identity), "\n");
    const std::string ranks = RanksText(d);
    if (!ranks.empty()) absl::StrAppend(&text, ranks, "\n");
  }
  absl::StrAppend(&text, Sentence(d), "\n", EndText(d));
  if (!d.equal() && d.first.kind != Parting::kControlFlow) {
    absl::StrAppend(&text, "  A ", TensorText(d.first.a), "\n  B ",
                    TensorText(d.first.b), "\n");
  }
  absl::StrAppend(&text, d.compared, " operations compared, ", d.different,
                  " differ, ", d.missing, " in one only\n");
  for (const RankParting& p : d.partings) {
    if (d.partings.size() == 1) break;
    absl::StrAppend(&text, "  rank ", p.rank, ": ", NameOf(p.kind),
                    p.kind == Parting::kNone
                        ? ""
                        : absl::StrCat(", ", ToString(p.identity)),
                    "\n");
  }
  for (const std::string& note : d.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

std::string TraceDifferenceJson(const TraceDifference& d) {
  const RankParting& p = d.first;
  Json partings = Json::array();
  for (const RankParting& parting : d.partings) {
    partings.push_back(PartingJson(parting));
  }
  Json json = {{"verdict", VerdictOf(d)},
               {"ends_a", EndJson(d.end_a)},
               {"ends_b", EndJson(d.end_b)}};
  json.update(IdentityJson(p.identity));
  json.update(
      Json{{"rank", p.rank < 0 ? Json(nullptr) : Json(p.rank)},
           {"ranks", d.ranks},
           {"all_ranks", d.ranks.size() == d.partings.size()},
           {"tensor", p.tensor},
           {"micro_batch", p.micro_batch},
           {"producer", p.kind == Parting::kBetween ? Json(ToString(p.producer))
                                                    : Json(nullptr)},
           {"only_in", p.kind != Parting::kControlFlow ? Json(nullptr)
                       : p.only_in_a                   ? Json("a")
                                                       : Json("b")},
           {"sums_untraced", p.sums_untraced},
           {"a", TensorJson(p.a)},
           {"b", TensorJson(p.b)},
           {"compared", d.compared},
           {"different", d.different},
           {"missing", d.missing},
           {"across_layouts", d.across_layouts},
           {"partings", std::move(partings)},
           {"notes", d.notes}});
  return json.dump() + "\n";
}

}  // namespace lockstep
