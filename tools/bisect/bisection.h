// The course of one bisection. Inside this folder only; bisect.h has what it
// is.
#ifndef LOCKSTEP_TOOLS_BISECT_BISECTION_H_
#define LOCKSTEP_TOOLS_BISECT_BISECTION_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/bench/scratch.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {

class Bisection {
 public:
  // Borrowed, and outlive it.
  Bisection(FileSystem& fs, const BisectOptions& options, Scratch scratch)
      : fs_(fs), options_(options), scratch_(std::move(scratch)) {}

  absl::StatusOr<BisectResult> Run();

 private:
  void TakeRuns();
  bool HasBinaries() const {
    return !options_.binary_a.empty() || !options_.binary_b.empty();
  }
  absl::Status Judge();
  absl::Status Verdict(const std::string& verdict) {
    result_.verdict = verdict;
    return absl::OkStatus();
  }

  // bisection_replays.cc
  SideOptions Side(bool of_a) const;
  absl::Status FindStep();
  absl::Status ReplayBoth();
  absl::Status ReplayB();
  absl::StatusOr<bool> ReplayAAsB();
  absl::StatusOr<bool> RecursFromEarlier(size_t notes);
  // bisection_settings.cc
  bool PutOnTrial();
  void AcquitSettings();
  absl::Status JudgeSettings(const absl::StatusOr<ReplayedSide>& as_a);
  // bisection_bytes.cc
  absl::StatusOr<bool> CompareBytes();
  absl::StatusOr<bool> CompareWholeBytes();
  absl::StatusOr<bool> KeepOddOne(bool of_a);
  absl::Status CompareTracedBytes();
  void CompareTensor(const KeptTensor& a, const KeptTensor& b);
  // bisection_memory.cc: whether the run depends on what memory holds that
  // nobody wrote, or on when messages come; then the place is that one.
  absl::StatusOr<bool> Poisoned(bool of_a);
  absl::StatusOr<bool> DependsOnMemory(bool of_a, bool recurs);
  absl::StatusOr<bool> MemoryExplains();

  bool SamplesDiffer();
  void NoteWhoseTokens(const SampleTokens& in_a, const SampleTokens& in_b);
  // bisection_states.cc
  absl::Status JudgeEqualLines();
  absl::Status GrewApart();
  void NoteLostLedgers();
  absl::Status OutsideOfTraces();
  // bisection_stops.cc: of a step that stopped one run by its numbers, or both.
  bool BothStopped() const {
    return evidence_.stopped_a() && evidence_.stopped_b();
  }
  void NoteStops();
  absl::Status EqualStops();
  absl::StatusOr<bool> LoadedStateDiffers();
  absl::StatusOr<bool> WentOnFromWhatItSaved(bool of_a);

  absl::Status NeitherRecurs();
  absl::Status OneDoesNotRecur();
  absl::Status ReadOwnTrace(bool of_a);
  absl::Status CompareReplays();
  absl::Status NoteWhyItEnded(const std::string& run, const char* name);
  bool BeganOtherwise() const;  // the step, by its traces
  absl::Status ComparePrograms();
  absl::Status Unless(absl::StatusOr<bool> memory, const std::string& verdict);

  FileSystem& fs_;
  const BisectOptions& options_;
  const Scratch scratch_;
  Evidence evidence_;
  bool b_as_it_was_ = false;  // not with the settings of run a
  bool a_as_b_ = false;       // run a with those of run b instead
  // "key=value" of run a that may explain, with which run b is done again; and
  // whether they do.
  std::vector<std::string> trial_;
  bool settings_explain_ = false;
  // Where one of the two begins that comes to its own bits only from there; -1:
  // neither.
  int64_t earlier_ = -1;
  bool earlier_is_a_ = false;
  ReplayedSide a_, b_;
  BisectResult result_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_BISECTION_H_
