#include "tools/audit.h"

#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/diff_state.h"
#include "ckpt/manifest.h"
#include "ckpt/tensor_parts.h"
#include "ckpt/verify.h"
#include "determinism/check.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/replay_window.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

// splitmix64: a seed that is a small number decides all bits.
uint64_t Mixed(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return seed ^ (seed >> 31);
}

std::string DirOf(const std::string& run_dir, int64_t step) {
  return JoinPath(CheckpointsDir(run_dir), CheckpointName(step));
}

// Whether the checkpoint is damaged: then the segment is not what was saved,
// and another beginning would be an audit of something else.
absl::StatusOr<std::string> DamageOf(FileSystem& fs, const std::string& run_dir,
                                     int64_t step) {
  if (step == 0) return std::string();
  LS_ASSIGN_OR_RETURN(const VerifyResult result,
                      VerifyCheckpoint(fs, DirOf(run_dir, step)));
  return result.ok ? std::string()
                   : absl::StrCat(CheckpointName(step), ": ", result.Summary());
}

// What the ranks of a layout find at the end of a segment, each in its boxes.
class EndOfSegment {
 public:
  EndOfSegment(FileSystem& fs, std::string dir, int64_t step)
      : fs_(fs), dir_(std::move(dir)), step_(step) {}

  // On the rank's own thread.
  absl::Status Look(Stepper& stepper, const ReplayedStep& step) {
    if (step.report.step != step_) return absl::OkStatus();
    LS_ASSIGN_OR_RETURN(const auto saved, CheckpointReader::Open(fs_, dir_));
    LS_ASSIGN_OR_RETURN(auto differences,
                        DiffState(*saved, stepper.registry()));
    const std::lock_guard<std::mutex> lock(mutex_);
    for (TensorDifference& d : differences)
      found_.emplace(d.name, std::move(d));
    return absl::OkStatus();
  }

  std::vector<TensorDifference> Take() {
    std::vector<TensorDifference> differences;
    for (auto& [name, d] : found_) differences.push_back(std::move(d));
    return differences;
  }

 private:
  FileSystem& fs_;
  const std::string dir_;
  const int64_t step_;
  std::mutex mutex_;
  std::map<std::string, TensorDifference> found_;
};

void TakeWindow(const ReplayedWindow& window, SegmentVerdict& verdict) {
  verdict.notes = window.notes;
  verdict.steps = static_cast<int64_t>(window.steps.size());
  verdict.ranks = window.ranks;
  for (const ReplayedStep& step : window.steps) {
    if (step.recurs()) continue;
    verdict.first_difference = step.report.step;
    verdict.fields = step.differences;
    if (!step.recorded) verdict.fields = {"line"};
    return;
  }
}

}  // namespace

absl::StatusOr<std::vector<Segment>> SegmentsOf(FileSystem& fs,
                                                const std::string& run_dir) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, run_dir));
  std::vector<int64_t> ends;
  if (manifest.parent.run_id.empty()) ends.push_back(0);
  for (const ListedCheckpoint& c : checkpoints) {
    const bool ours = c.run_id.empty() || c.run_id == manifest.run_id;
    if (ours && c.step > 0) ends.push_back(c.step);
  }
  std::vector<Segment> segments;
  for (size_t i = 1; i < ends.size(); ++i) {
    segments.push_back({ends[i - 1], ends[i]});
  }
  if (!segments.empty()) return segments;
  return InputError(
      "there is no segment to do again: no checkpoint, or one "
      "that a fork begins with",
      run_dir, "train until there is another checkpoint");
}

// All u + place * all over places and all u below `all` are the numbers below
// count * all, once each; a segment is `count` of them in a row.
std::vector<size_t> SpreadPlaces(size_t all, size_t count, uint64_t seed) {
  LS_CHECK(count >= 1 && count <= all);
  const size_t u = Mixed(seed) % all;
  std::vector<size_t> places;
  for (size_t place = 0; place < count; ++place) {
    places.push_back((u + place * all) / count);
  }
  return places;
}

absl::StatusOr<SegmentVerdict> AuditSegment(FileSystem& fs,
                                            const std::string& run_dir,
                                            const Segment& segment,
                                            int64_t threads) {
  SegmentVerdict verdict = {.segment = segment};
  for (const int64_t step : {segment.from, segment.to}) {
    LS_ASSIGN_OR_RETURN(verdict.error, DamageOf(fs, run_dir, step));
    if (!verdict.error.empty()) return verdict;
  }
  const std::string dir = DirOf(run_dir, segment.to);
  LS_ASSIGN_OR_RETURN(const auto saved, CheckpointReader::Open(fs, dir));
  const absl::Status bytes = saved->CheckFingerprints();
  if (absl::IsDataLoss(bytes)) {
    verdict.error = FirstLine(bytes);
    return verdict;
  }
  LS_RETURN_IF_ERROR(bytes);
  EndOfSegment end(fs, dir, segment.to);
  WindowVisitor visitor;
  visitor.step = [&](int, Stepper& stepper, const ReplayedStep& step) {
    return end.Look(stepper, step);
  };
  const auto window = ReplayWindow(fs, run_dir,
                                   {.from = segment.from + 1,
                                    .to = segment.to,
                                    .checkpoint_at_most = segment.from,
                                    .from_seed = segment.from == 0,
                                    .threads = threads},
                                   visitor);
  if (absl::IsOutOfRange(window.status())) {  // a loss that is not finite
    verdict.error = FirstLine(window.status());
    return verdict;
  }
  LS_RETURN_IF_ERROR(window.status());
  TakeWindow(*window, verdict);
  verdict.tensors = end.Take();
  if (window->began_at != segment.from) {
    verdict.error =
        absl::StrCat(CheckpointName(segment.from), " cannot be begun from");
  }
  return verdict;
}

}  // namespace lockstep
