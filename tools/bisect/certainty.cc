#include "tools/bisect/certainty.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

std::string OfTheSteps(const BisectResult& r) {
  return absl::StrCat(
      "All steps before ", r.step,
      " that both have on record are equal in every field but the clocks'.");
}

// A step that its numbers refused has no bits on record.
bool HasStop(const BisectResult& r) {
  return std::find(r.fields.begin(), r.fields.end(), "stop") != r.fields.end();
}

std::string OfTheReplays(const BisectResult& r) {
  if (r.verdict == "unwritten_memory") {
    return "The run was done again twice, by one program on one machine.";
  }
  if (r.repeatable.value_or(false)) {
    return absl::StrCat(
        "Both runs were done again from ",
        r.began_at == 0 ? std::string("the seed")
                        : absl::StrCat("the checkpoint of step ", r.began_at),
        ", and each came to ",
        HasStop(r) ? "the bits, or the refusal of a step, that"
                   : "the bits that",
        " it has on record: the difference is one of the programs or of what "
        "they were given, and comes back.");
  }
  if (!r.odd_one.empty()) {
    return absl::StrCat(
        "Done again, run ", r.odd_one,
        " does not come to what it has on record, and the other does: what "
        "happened in it happened once.");
  }
  return "Done again, the runs do not both come to what they have on record.";
}

std::string OfTheSave(const BisectResult& r) {
  if (r.odd_one.empty()) {
    return "Done again with fingerprints, no step up to there differs in any "
           "field: the state that was saved is not what either run's replay "
           "comes to, or is that of one of them alone.";
  }
  return absl::StrCat("Done again, step ", r.step,
                      " comes to the same state in both runs; run ", r.odd_one,
                      " saved another, and its next step from there is the one "
                      "that it has on record: its state was changed when or "
                      "after it was saved.");
}

std::string OfTheState(const StateDifference& state) {
  std::string text =
      "Before its first operation the run that was loaded has another state "
      "than the one that went through, entry by entry compared.";
  if (!state.saved_right) return text;
  return text + (*state.saved_right
                     ? " Its checkpoint says that it holds the other run's "
                       "value: the load changed it."
                     : " Its checkpoint holds that other value: it was saved "
                       "so, or written to since.");
}

std::string OfTheTrace(const BisectResult& r) {
  if (r.verdict == "unwritten_memory") {
    return absl::StrCat(
        "Two replays of run ", r.odd_one,
        " are equal up to this operation and part there; they differ in what "
        "fresh memory holds and in when messages travel, and in nothing else.");
  }
  switch (r.trace->first.kind) {
    case Parting::kOrigin:
      return "The operation was given the same bits in both and left others; "
             "every operation before it on its rank is equal, inputs and "
             "outputs. Equal means 128-bit fingerprints.";
    case Parting::kUnknownInputs:
      return "The operation announces no inputs: every operation before it on "
             "its rank is equal, so it, or what runs unannounced between them, "
             "is where they part.";
    case Parting::kBetween:
      return "The operation that left the tensor left the same in both; the "
             "one that read it was given something else.";
    case Parting::kControlFlow:
      return "Every operation before it on its rank is equal, inputs and "
             "outputs; this one only one of the runs did.";
    case Parting::kReceiver:
      return "Every operation before it on its rank is equal, and this one was "
             "given something else: it is not the first that parts, but the "
             "first that is in the trace.";
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> CertaintyOf(const BisectResult& r) {
  std::vector<std::string> sure;
  if (r.equal() && r.replays > 0) {
    return {absl::StrCat(
        "Every step that both have on record is equal in every field but the "
        "clocks'. The step behind them, which stopped both, was done again ",
        r.replays, " time(s) in each: every operation came to the same bits.")};
  }
  if (r.replays == 0 && (r.equal() || r.verdict == "missing_steps" ||
                         r.verdict == "saved_state")) {
    if (r.grew_apart) {
      return {
          "The first step that both have on record goes on from states that "
          "differ. Nothing was replayed."};
    }
    return {
        "Every step up to there that both have on record is equal in every "
        "field but the clocks'. Nothing was replayed."};
  }
  sure.push_back(OfTheSteps(r));
  if (r.verdict == "saved_state") {
    sure.push_back(OfTheSave(r));
    return sure;
  }
  if (r.verdict == "manifest") {
    sure.push_back(
        r.repeatable.value_or(false)
            ? "Run b comes to what it has on record, and with the settings of "
              "run a to something else: the settings change its bits."
            : "A key differs that must change the bits, so no operation is to "
              "blame for that; whether something else differs too was not "
              "looked for.");
    return sure;
  }
  if (r.replays > 0) sure.push_back(OfTheReplays(r));
  if (r.trace) {
    const std::string trace = OfTheTrace(r);
    if (!trace.empty()) sure.push_back(trace);
  }
  if (r.state) sure.push_back(OfTheState(*r.state));
  if (r.sound_memory) {
    sure.push_back(
        *r.sound_memory
            ? "A second replay, with fresh memory that holds no numbers and no "
              "message on its way during computation, came to the same bits as "
              "the first: neither memory that nobody wrote nor an unfinished "
              "message is the cause."
            : "A second replay, with fresh memory that holds no numbers and no "
              "message on its way during computation, came to other bits than "
              "the first: memory that nobody wrote, or a message that was not "
              "there yet, is read.");
  }
  return sure;
}

}  // namespace lockstep
