// What a replay does otherwise than the run did, to see whether it helps.
//
// What it is: `--lr`, `--without`, `--skip-samples` and `--set` of `replay`
// brought together as settings and ranges of samples to pass over. What it is
// not: an adoption: a run takes ranges on with `train --skip-samples`, and
// remedies.notes say which. Why so: a person knows the document that is to
// blame; the run knows only samples.
//
//   --without 0:17     every sample that holds a token of document 17 of
//                      source 0; `explain` and `replay` name documents so
//   --lr 1e-4          optimizer.lr, from the checkpoint on
#ifndef LOCKSTEP_TOOLS_REPLAY_REMEDY_H_
#define LOCKSTEP_TOOLS_REPLAY_REMEDY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/replay_source.h"
#include "tools/skip_list.h"

namespace lockstep {

struct DocumentName {
  int64_t source = 0;
  int64_t document = 0;
};
// "17" (of source 0) or "2:17". InputError for anything else.
absl::StatusOr<DocumentName> ParseDocumentName(std::string_view text);

struct RemedyOptions {
  std::vector<std::string> sets = {};
  std::vector<std::string> skip_samples = {};  // "A-B"
  std::vector<std::string> without = {};       // documents
  std::string lr = {};                         // TOML; empty: the run's
};

struct Remedy {
  std::vector<std::string> sets = {};
  std::vector<SkipRange> skips = {};
  std::vector<std::string> notes = {};  // what a person should know
};

// For steps up to `to` of the replay that begins where `source` begins.
// InputError for what is no range or document, and for a document of which
// those steps read nothing: leaving it out would change nothing.
absl::StatusOr<Remedy> PlanRemedy(const ReplaySource& source,
                                  const RemedyOptions& options, int64_t to);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_REMEDY_H_
