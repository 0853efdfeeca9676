#include "tools/bisect/bisect.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bench/scratch.h"
#include "tools/bisect/likely_cause.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {
namespace {

class Bisection {
 public:
  Bisection(FileSystem& fs, const BisectOptions& options, Scratch scratch)
      : fs_(fs), options_(options), scratch_(std::move(scratch)) {}

  absl::StatusOr<BisectResult> Run() {
    LS_ASSIGN_OR_RETURN(evidence_, GatherEvidence(fs_, options_.a, options_.b));
    result_.step = evidence_.step;
    result_.fields = evidence_.fields;
    result_.differences = evidence_.differences;
    result_.began_at = evidence_.equal_checkpoint;
    LS_RETURN_IF_ERROR(Judge());
    result_.cause = LikelyCause(result_);
    return std::move(result_);
  }

 private:
  absl::Status Judge() {
    if (evidence_.step == 0) return Verdict("equal");
    if (evidence_.Explained()) return Verdict("manifest");
    LS_RETURN_IF_ERROR(ReplayBoth());
    if (SamplesDiffer()) return Verdict("data");
    if (!a_.recurs && !b_.recurs) return NeitherRecurs();
    if (a_.recurs != b_.recurs) return OneDoesNotRecur();
    return ComparePrograms();
  }

  absl::Status Verdict(const std::string& verdict) {
    result_.verdict = verdict;
    return absl::OkStatus();
  }

  SideOptions Side(bool of_a) const {
    return {.run = of_a ? options_.a : options_.b,
            .binary = of_a ? options_.binary_a : options_.binary_b,
            .traces = scratch_ / (of_a ? "a" : "b"),
            .step = evidence_.step,
            .checkpoint_at_most = evidence_.equal_checkpoint,
            .from_seed = evidence_.equal_checkpoint == 0,
            .threads = options_.threads};
  }

  absl::Status ReplayBoth() {
    LS_ASSIGN_OR_RETURN(a_, TracedReplay(fs_, Side(true)));
    LS_ASSIGN_OR_RETURN(b_, TracedReplay(fs_, Side(false)));
    result_.replays = 1;
    for (const ReplayedSide* side : {&a_, &b_}) {
      result_.notes.insert(result_.notes.end(), side->notes.begin(),
                           side->notes.end());
    }
    return absl::OkStatus();
  }

  // Other tokens under the same index, in replays that are the runs' own.
  bool SamplesDiffer() {
    if (!evidence_.Differs("fingerprint.data")) return false;
    for (const auto& [sample, tokens] : a_.tokens) {
      const auto other = b_.tokens.find(sample);
      if (other != b_.tokens.end() && other->second == tokens) continue;
      result_.sample = static_cast<int64_t>(sample);
      result_.repeatable = a_.recurs && b_.recurs;
      return true;
    }
    result_.repeatable = false;
    result_.notes.push_back(
        "the runs read other tokens at this step, and their replays the same");
    return true;
  }

  absl::Status NeitherRecurs() {
    result_.notes.push_back(
        "neither run recurs here: replay each with the program that made it "
        "(--binary-a, --binary-b), on the machine that did");
    return Verdict("not_reproduced");
  }

  // What was recorded happened once. Its own trace, if there is one, shows it.
  absl::Status OneDoesNotRecur() {
    result_.odd_one = a_.recurs ? "b" : "a";
    result_.repeatable = false;
    const std::string& odd = a_.recurs ? options_.b : options_.a;
    const std::string sound = scratch_ / (a_.recurs ? "a" : "b");
    const TraceSteps only = {evidence_.step, evidence_.step};
    const auto traced = a_.recurs ? CompareTraces(fs_, sound, odd, only)
                                  : CompareTraces(fs_, odd, sound, only);
    if (traced.ok() && !traced->equal()) {
      result_.trace = *traced;
    } else {
      result_.notes.push_back(
          "the step's own trace is not on record, so the operation is not "
          "known; with `trace.level` a run leaves one");
    }
    return Verdict("operation");
  }

  absl::Status ComparePrograms() {
    LS_ASSIGN_OR_RETURN(result_.trace,
                        CompareTraces(fs_, scratch_ / "a", scratch_ / "b"));
    switch (result_.trace->first.kind) {
      case Parting::kNone:
        result_.notes.push_back(
            "both runs recur and their traces are equal: what differs lies "
            "outside of the operations that are traced");
        return Verdict("not_reproduced");
      case Parting::kReceiver:
        return Verdict(evidence_.after_load_a != evidence_.after_load_b
                           ? "state_after_load"
                           : "received");
      case Parting::kControlFlow:
        result_.repeatable = true;
        return Verdict("control_flow");
      case Parting::kBetween:
        result_.repeatable = true;
        return Verdict("changed_between");
      default:
        result_.repeatable = true;
        LS_RETURN_IF_ERROR(CompareBytes());
        return Verdict("operation");
    }
  }

  // Once more, for the bytes; by this program alone, and rank by rank.
  absl::Status CompareBytes() {
    const TraceDifference& trace = *result_.trace;
    if (!options_.binary_a.empty() || !options_.binary_b.empty() ||
        trace.across_layouts) {
      return absl::OkStatus();
    }
    const RankParting& first = trace.first;
    LS_ASSIGN_OR_RETURN(
        const auto one,
        KeepOperation(fs_, Side(true), first.identity, first.rank));
    LS_ASSIGN_OR_RETURN(
        const auto other,
        KeepOperation(fs_, Side(false), first.identity, first.rank));
    ++result_.replays;
    for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
      if (one[i].name != first.tensor || one[i].shape != other[i].shape ||
          one[i].dtype != other[i].dtype) {
        continue;
      }
      result_.elements = CompareElements(one[i], other[i]);
      break;
    }
    return absl::OkStatus();
  }

  FileSystem& fs_;
  const BisectOptions& options_;
  const Scratch scratch_;
  Evidence evidence_;
  ReplayedSide a_, b_;
  BisectResult result_;
};

}  // namespace

absl::StatusOr<BisectResult> Bisect(FileSystem& fs,
                                    const BisectOptions& options) {
  LS_ASSIGN_OR_RETURN(Scratch scratch, Scratch::Make(options.scratch));
  return Bisection(fs, options, std::move(scratch)).Run();
}

}  // namespace lockstep
