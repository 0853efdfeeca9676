// Which recipe and which data a step of an existing run was made with.
//
// What it is: the manifest that says so, the config in it, and the token files
// it names, found again and held against their hashes. What it is not: a
// checkpoint's state, or a writer: nothing is prepared. Why so: a run's folder
// may have moved, its recipe may be gone, and its text may have changed; what
// the run read is in its manifest and under RUN/data.
#ifndef LOCKSTEP_TOOLS_STORED_RUN_H_
#define LOCKSTEP_TOOLS_STORED_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/manifest.h"
#include "data/dataset.h"
#include "determinism/file_system.h"
#include "tools/run_config.h"

namespace lockstep {

// That of the launch which made `step` (launches.h). For a run that has kept no
// launches: of the first checkpoint at or after it, else of the last one
// before, else RUN/manifest.json. InputError where there is no run.
absl::StatusOr<Manifest> ManifestOfStep(FileSystem& fs,
                                        const std::string& run_dir,
                                        int64_t step);

// The config of `manifest` with `sets` over it, and every source's `path`
// where its token files are now: those made from text in RUN/data, others where
// they were. A source that a set names is left as the set says.
absl::StatusOr<RunConfig> StoredConfig(FileSystem& fs,
                                       const std::string& run_dir,
                                       const Manifest& manifest,
                                       const std::vector<std::string>& sets);

// Opens them. InputError for files that are gone, or whose size or content is
// not what the manifest says (a foreign pair too large to be hashed at the
// start has its size compared, and its blocks where it has hashes of them).
absl::StatusOr<std::unique_ptr<Dataset>> OpenStoredData(
    FileSystem& fs, const std::string& run_dir, const Manifest& manifest,
    const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STORED_RUN_H_
