// Text of `bisect`.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

std::string MissingSteps(const BisectResult& r) {
  const bool a_ended = r.a.last_step < r.step, b_ended = r.b.last_step < r.step;
  if (a_ended == b_ended) {
    return absl::StrCat("step ", r.step,
                        " is not on record in both; all steps that both have "
                        "are equal");
  }
  return absl::StrCat("run ", a_ended ? "a" : "b", " stopped at step ",
                      r.step - 1,
                      ", or its lines behind that are lost, and "
                      "the other went on to step ",
                      std::max(r.a.last_step, r.b.last_step),
                      "; all steps that both have are equal");
}

std::string Sentence(const BisectResult& r) {
  if (r.verdict == "equal") return "no step of the two runs differs";
  if (r.verdict == "missing_steps") return MissingSteps(r);
  if (r.grew_apart) {
    return absl::StrCat("the states of step ", r.step,
                        " differ, from which the first step that both have on "
                        "record goes on");
  }
  if (r.verdict == "saved_state") {
    return absl::StrCat("the states saved at step ", r.step,
                        " differ, though no step's line up to there does");
  }
  if (r.verdict == "manifest") return "the runs were made differently";
  if (r.verdict == "data") {
    if (r.sample < 0) return "they read other tokens";
    if (r.tokens_of < 0) {
      return absl::StrCat("sample ", r.sample, " has other tokens in the one");
    }
    return absl::StrCat("run ", r.tokens_in, " read as sample ", r.sample,
                        " what is sample ", r.tokens_of, " in the other");
  }
  if (r.state) return "its state after the load is not the other's";
  if (r.verdict == "unwritten_memory") {
    return absl::StrCat(
        "run ", r.odd_one,
        " depends on what fresh memory holds, or on when messages come: this "
        "operation is the first whose output does");
  }
  if (r.verdict == "not_reproduced") {
    return r.repeatable.value_or(false)
               ? "the difference comes back in replays of both, and no "
                 "operation that is traced shows it"
               : "the difference does not come back";
  }
  if (r.verdict == "changed_between") {
    return absl::StrCat("its input is not what ",
                        ToString(r.trace->first.producer),
                        " left: something that no operation announces wrote "
                        "to it in between");
  }
  if (r.verdict == "control_flow") {
    return absl::StrCat("only run ", r.trace->first.only_in_a ? "a" : "b",
                        " did this operation");
  }
  if (r.verdict == "received") {
    return "its input differs already, and what made that is not in the trace";
  }
  if (!r.trace.has_value()) {
    return absl::StrCat("what run ", r.odd_one,
                        " recorded does not come back, and the other's does");
  }
  return "";
}

std::string StateText(const StateDifference& s) {
  return absl::StrCat(
      s.entry, s.rank < 0 ? "" : absl::StrCat(", rank ", s.rank),
      s.entries > 1 ? absl::StrCat(" (and ", s.entries - 1, " other entries)")
                    : "",
      s.path.empty() ? "" : absl::StrCat(", from ", s.path));
}

std::string ElementsText(const ElementDifference& e) {
  std::string text = absl::StrCat(
      e.differ, " of ", e.count, " elements differ, the first at [",
      absl::StrJoin(e.first, ","), "]: 0x", e.a, " and 0x", e.b, "\n");
  for (const auto& [ulps, count] : e.ulps) {
    absl::StrAppend(&text, "  ",
                    ulps < 0 ? std::string("not a number")
                             : absl::StrCat("from ", ulps, " ulp"),
                    ": ", count, "\n");
  }
  return text;
}

}  // namespace

std::string BisectHeadline(const BisectResult& r) {
  std::string words = r.verdict;
  for (char& c : words) {
    if (c == '_') c = ' ';
  }
  // The verdict's name is of an operation; what differs is reproduced.
  if (r.verdict == "not_reproduced" && r.repeatable.value_or(false)) {
    words = "in no operation that is traced";
  }
  if (r.state) return absl::StrCat(words, ": ", r.state->entry);
  if (r.trace.has_value() && !r.trace->equal()) {
    const OperationIdentity& id = r.trace->first.identity;
    return absl::StrCat(words, ": ", id.scope, id.scope.empty() ? "" : " ",
                        id.operation, ", step ", r.step);
  }
  const std::string sentence = Sentence(r);
  return sentence.empty() ? words : absl::StrCat(words, ": ", sentence);
}

std::string BisectPlace(const BisectResult& r) {
  if (r.state) return StateText(*r.state);
  if (!r.trace.has_value() || r.trace->equal()) return "";
  const TraceDifference& t = *r.trace;
  std::string text = ToString(t.first.identity);
  if (!t.first.tensor.empty()) {
    absl::StrAppend(&text, ", tensor ", t.first.tensor);
  }
  if (t.across_layouts) return text + ", between two layouts";
  return absl::StrCat(
      text, ", rank ", t.first.rank,
      t.ranks.size() > 1
          ? absl::StrCat(" (also ", t.ranks.size() - 1, " other ranks)")
          : "");
}

std::string BisectText(const BisectResult& r) {
  std::string text = absl::StrCat(r.verdict, "\n");
  if (r.step > 0 && !r.fields.empty()) {
    absl::StrAppend(&text, "first differing step: ", r.step, " (",
                    absl::StrJoin(r.fields, " "), ")\n");
  }
  const std::string place = BisectPlace(r);
  if (!place.empty()) absl::StrAppend(&text, place, "\n");
  const std::string sentence = Sentence(r);
  if (!sentence.empty()) absl::StrAppend(&text, sentence, "\n");
  if (r.elements) text += ElementsText(*r.elements);
  if (r.repeatable) {
    absl::StrAppend(&text, *r.repeatable
                               ? "repeatable: both runs recur in a replay\n"
                               : "not repeatable\n");
  }
  if (!r.cause.empty()) absl::StrAppend(&text, "likely: ", r.cause, "\n");
  for (const BisectDifference& d : r.differences) {
    absl::StrAppend(&text, d.explains ? "* " : "  ", d.key, ": ",
                    d.a.substr(0, 60), " | ", d.b.substr(0, 60), "\n");
  }
  for (const std::string& note : r.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  if (!r.saved.empty()) {
    absl::StrAppend(&text, "operation: ", r.saved,
                    " (lockstep doctor --operation)\n");
  }
  if (!r.page.empty()) absl::StrAppend(&text, "page: ", r.page, "\n");
  return text;
}

}  // namespace lockstep
