#include "tools/replay/remedy.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status NoDocument(std::string_view text) {
  return InputError(absl::StrCat("'", std::string(text), "' is no document"),
                    "--without",
                    "write SOURCE:DOCUMENT as `explain` counts them, for "
                    "example 0:17");
}

bool WholeNumber(std::string_view text, int64_t& value) {
  return text.find_first_not_of("0123456789") == text.npos &&
         absl::SimpleAtoi(std::string(text), &value);
}

// The samples of the replayed steps, by the run's record of them.
class Reading {
 public:
  Reading(const ReplaySource& source, int64_t to)
      : dataset_(source.dataset()),
        first_(source.recorded().Count(source.began_at() + 1, "sample_first")),
        last_(source.recorded().Count(to, "sample_last")) {}

  uint64_t first() const { return first_; }

  // A sample that is left out makes room for one more, which may hold the
  // document as well.
  absl::Status Without(const DocumentName& name,
                       std::vector<SkipRange>& skips) const {
    uint64_t last = last_;
    bool found = false;
    for (uint64_t g = first_; g <= last; ++g) {
      LS_ASSIGN_OR_RETURN(const bool holds, Holds(g, name));
      if (!holds) continue;
      found = true;
      ++last;
      if (!skips.empty() && skips.back().last + 1 == g) {
        skips.back().last = g;
      } else {
        skips.push_back({.first = g, .last = g});
      }
    }
    if (found) return absl::OkStatus();
    return InputError(
        absl::StrCat("no sample of the replayed steps (", first_, " to ", last_,
                     ") holds a token of document ", name.document,
                     " of source ", name.source),
        "--without",
        "name one that `replay --full` of these steps lists, or replay those "
        "that read it");
  }

 private:
  absl::StatusOr<bool> Holds(uint64_t sample, const DocumentName& name) const {
    LS_ASSIGN_OR_RETURN(const SampleLocation at, dataset_.Locate(sample));
    return at.source == name.source && at.first_document <= name.document &&
           name.document <= at.last_document;
  }

  const Dataset& dataset_;
  const uint64_t first_, last_;
};

std::string RangeText(const SkipRange& range) {
  return absl::StrCat(range.first, "-", range.last);
}

// Leaving samples out where they were first used is as if they had never been
// there; later, what they taught stays.
void AddNotes(uint64_t cursor, int64_t began_at, Remedy& remedy) {
  std::string adopt, early;
  for (const SkipRange& range : remedy.skips) {
    absl::StrAppend(&adopt, " --skip-samples ", RangeText(range));
    if (range.first < cursor) {
      absl::StrAppend(&early, early.empty() ? "" : ", ", range.first, "-",
                      std::min(range.last, cursor - 1));
    }
  }
  if (!adopt.empty()) {
    remedy.notes.push_back(absl::StrCat("to adopt it: train", adopt));
  }
  if (!early.empty()) {
    remedy.notes.push_back(absl::StrCat(
        "samples ", early, " were read before step ", began_at + 1,
        ": what they taught stays; begin at an earlier checkpoint"));
  }
}

}  // namespace

absl::StatusOr<DocumentName> ParseDocumentName(std::string_view text) {
  const size_t colon = text.find(':');
  DocumentName name;
  const std::string_view document =
      colon == text.npos ? text : text.substr(colon + 1);
  if (colon != text.npos &&
      (colon == 0 || !WholeNumber(text.substr(0, colon), name.source))) {
    return NoDocument(text);
  }
  if (document.empty() || !WholeNumber(document, name.document)) {
    return NoDocument(text);
  }
  return name;
}

absl::StatusOr<Remedy> PlanRemedy(const ReplaySource& source,
                                  const RemedyOptions& options, int64_t to) {
  Remedy remedy = {.sets = options.sets};
  if (!options.lr.empty()) {
    remedy.sets.push_back(absl::StrCat("optimizer.lr=", options.lr));
  }
  LS_ASSIGN_OR_RETURN(remedy.skips, ParseSkipRanges(options.skip_samples));
  const Reading reading(source, to);
  for (const std::string& text : options.without) {
    LS_ASSIGN_OR_RETURN(const DocumentName name, ParseDocumentName(text));
    LS_RETURN_IF_ERROR(reading.Without(name, remedy.skips));
  }
  AddNotes(reading.first(), source.began_at(), remedy);
  return remedy;
}

}  // namespace lockstep
