// A resume on another layout: what is written down of it.
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/guarantee.h"
#include "parallel/mesh.h"
#include "tools/launches.h"
#include "tools/resize_note.h"
#include "tools/run_folder.h"

namespace lockstep {
namespace {

MeshShape ShapeOf(const Manifest::Layout& layout) {
  return {.data = static_cast<int>(layout.data),
          .pipeline = static_cast<int>(layout.pipeline),
          .tensor = static_cast<int>(layout.tensor)};
}

ResizeNote OwnNote() {
  const char* const text = std::getenv("LOCKSTEP_RESIZE");
  return ReadResizeNote(text == nullptr ? "" : text);
}

}  // namespace

// A change is one from the layout of the last launch, or from the one whose
// state is gone on with: a launch may have ended before it saved anything. Bits
// know of the second alone.
void RunFolder::NoteLayout(Manifest& current) {
  const std::string own_id = current.run_id;  // a new one, for this launch
  current.lineage = manifest_.lineage;
  layout_before_.reset();  // of a checkpoint that could not be loaded
  const auto last = LaunchOfStep(fs_, dir_, INT64_MAX);
  const MeshShape now = ShapeOf(current.layout);
  const bool of_state = !(ShapeOf(manifest_.layout) == now);
  if (of_state) layout_before_ = manifest_.layout;
  if (last.ok() && *last && !(ShapeOf((*last)->manifest.layout) == now)) {
    layout_before_ = (*last)->manifest.layout;
  }
  bits_may_differ_ =
      of_state && manifest_.guarantee < Guarantee::kLayoutInvariant;
  if (bits_may_differ_) current.lineage = own_id;
}

absl::Status RunFolder::RecordLayoutChange(int64_t step,
                                           const Stepper& stepper) {
  if (!layout_before_) return absl::OkStatus();
  const ResizeNote resize = OwnNote();
  const Guarantee after =
      bits_may_differ_ ? std::min(manifest_.guarantee, Guarantee::kStateExact)
                       : manifest_.guarantee;
  const std::string from = ToString(ShapeOf(*layout_before_));
  const std::string to = ToString(ShapeOf(manifest_.layout));
  notes_.push_back("on another layout: " + from + " -> " + to +
                   (bits_may_differ_ ? "; a new lineage, " + manifest_.lineage
                                     : ", bits unchanged"));
  return Record(
      "layout_change",
      {{"step", step},
       {"next_sample", static_cast<int64_t>(stepper.state().cursor)},
       {"from", from},
       {"to", to},
       {"reason", resize.reason},
       {"waited_ms", resize.waited_ms},
       {"idle", resize.idle},
       {"guarantee_before", std::string(NameOf(manifest_.guarantee))},
       {"guarantee_after", std::string(NameOf(after))},
       {"bits", std::string(bits_may_differ_ ? "may differ" : "unchanged")},
       {"lineage", manifest_.lineage}});
}

}  // namespace lockstep
