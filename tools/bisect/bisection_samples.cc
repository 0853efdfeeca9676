// Samples of the step that both replays read.
#include "tools/bisect/bisection.h"

namespace lockstep {

// Other tokens under the same index, in replays that are the runs' own.
bool Bisection::SamplesDiffer() {
  // Of a step that stopped a run no field is on record.
  const bool stopped = evidence_.Differs("stop");
  if (stopped && (a_.tokens.empty() || b_.tokens.empty())) return false;
  if (!stopped && !evidence_.Differs("fingerprint.data")) return false;
  for (const auto& [sample, tokens] : a_.tokens) {
    const auto other = b_.tokens.find(sample);
    if (other != b_.tokens.end() && other->second == tokens) continue;
    result_.sample = static_cast<int64_t>(sample);
    if (other != b_.tokens.end()) NoteWhoseTokens(tokens, other->second);
    result_.repeatable = a_.recurs && b_.recurs;
    return true;
  }
  if (a_.tokens.empty() || b_.tokens.empty()) {
    result_.repeatable = a_.recurs && b_.recurs;
    result_.notes.push_back(
        "which sample it is a replay by another program does not tell: "
        "`lockstep data order --run` of both does");
    return true;
  }
  if (stopped) return false;
  result_.repeatable = false;
  result_.notes.push_back(
      "the runs read other tokens at this step, and their replays the same");
  return true;
}

// Of the sample that differs. A document that changed is nobody else's; what a
// cursor slipped to is another sample's of the step, or of its end the next.
void Bisection::NoteWhoseTokens(const SampleTokens& in_a,
                                const SampleTokens& in_b) {
  const auto note = [this](const ReplayedSide& other,
                           const SampleTokens& tokens, const char* run) {
    for (const auto& [sample, its] : other.tokens) {
      if (its != tokens) continue;
      result_.tokens_of = static_cast<int64_t>(sample);
      result_.tokens_in = run;
      return true;
    }
    return false;
  };
  if (!note(a_, in_b, "b")) note(b_, in_a, "a");
}

}  // namespace lockstep
