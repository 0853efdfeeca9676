// The launches of a run, and the manifest that each trained under.
//
// What it is: RUN/launches/launch_N.json, one manifest a launch, named by the
// ledger's events; and which of them is in force at a step. What it is not: the
// manifest that a resume is compared with (a checkpoint's) or that names the
// run (RUN/manifest.json). Why so: a launch may change the recipe, and
// retention may remove every checkpoint that was saved under one, or a launch
// may not have saved yet; whoever does a step again needs the recipe that the
// step was made with, and must not have to guess it from what is left.
#ifndef LOCKSTEP_TOOLS_LAUNCHES_H_
#define LOCKSTEP_TOOLS_LAUNCHES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"

namespace lockstep {

// Keeps the manifest of the launch with this lock generation, which no launch
// of the run had before (ckpt/run_lock.h); returns its name below the run's
// folder, for the ledger's field "manifest". InputError where another manifest
// stands under it: what a launch has kept is never replaced.
absl::StatusOr<std::string> KeepLaunch(FileSystem& fs,
                                       const std::string& run_dir,
                                       int64_t generation,
                                       const std::string& manifest_json);

// Whether steps began with it: a launch, a resume or a fork. Then it has the
// field "manifest", but for runs of before launches were kept.
bool BeginsSteps(const LedgerEntry& entry);
// The manifest that a launch has kept under that name. InputError where it is
// gone or too large; ManifestMismatch: a damaged file.
absl::StatusOr<Manifest> ReadKeptManifest(FileSystem& fs,
                                          const std::string& run_dir,
                                          const std::string& name);

// What made a step, and which steps before it were made alike.
struct LaunchInForce {
  Manifest manifest;
  // Steps since+1 .. step were made with the same recipe, data and curve.
  int64_t since = 0;
};

// Of all launches so far, those whose steps were made again too; InputError
// where one has kept none (of before launches were kept) or it is gone.
absl::StatusOr<std::vector<Manifest>> AllLaunches(FileSystem& fs,
                                                  const std::string& run_dir);

// Of the launch that made `step`, or would make it: a later launch that went
// back takes the steps after it from an earlier one. Absent: a run of before
// launches were kept. ManifestMismatch: a damaged file.
absl::StatusOr<std::optional<LaunchInForce>> LaunchOfStep(
    FileSystem& fs, const std::string& run_dir, int64_t step);

// Whether both have as many ranks, along each axis.
bool SameLayout(const Manifest& a, const Manifest& b);

// The first of the launches that made steps from+1 .. to which has another
// layout than `manifest`; steps since+1 .. are its own.
absl::StatusOr<std::optional<LaunchInForce>> NextLayout(
    FileSystem& fs, const std::string& run_dir, const Manifest& manifest,
    int64_t from, int64_t to);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCHES_H_
