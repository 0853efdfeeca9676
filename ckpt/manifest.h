// What a run is made of: code, recipe, data, layout, machine.
//
// Written at step 0, copied into every checkpoint, and compared at each resume
// (manifest_compare.h). Plain facts that the caller collects: nothing here asks
// the machine or the clock. Not state: no number of a run depends on it. Fields
// are only ever added; a reader skips fields that it does not know, and refuses
// a file whose format_version is above its own.

#ifndef CKPT_MANIFEST_H_
#define CKPT_MANIFEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/guarantee.h"

namespace lockstep {

struct Manifest {
  static constexpr int64_t kFormatVersion = 1;

  struct Code {
    std::string commit;
    bool dirty = true;  // an unstamped build is dirty
    std::string binary_sha256;
    bool stamped = false;
  };
  struct RecipeIdentity {
    std::string name;
    std::string text;             // Recipe::ResolvedText()
    std::string trajectory_text;  // Recipe::TrajectoryText()
    std::string trajectory;       // SHA-256 of the latter
    std::string full;             // and of the former
  };
  struct DataFile {
    std::string path;  // as the recipe gives it
    int64_t size = 0;  // bytes
    std::string sha256;
  };
  struct Tokenizer {
    std::string name;
    std::string hash;
  };
  struct Layout {
    int64_t world = 1;
    int64_t data = 1;
    int64_t tensor = 1;
    int64_t pipeline = 1;
    int64_t micro_batch = 1;  // samples
    int64_t threads = 1;      // of each rank
  };
  // A fork names the run and the checkpoint that it grew from.
  struct Parent {
    std::string run_id;  // empty: no parent
    std::string lineage;
    int64_t step = 0;
    std::string checkpoint;         // its folder, as it was given
    std::string checkpoint_sha256;  // of its index
    std::string ledger_head;        // the parent's, when that was saved
  };

  // A difference that --allow let through on the way to this launch.
  struct Allowed {
    std::string key;
    std::string saved;  // what it was
    std::string current;
    std::string reason;
    int64_t step = 0;  // that the launch which asked for it went on from
    friend bool operator==(const Allowed&, const Allowed&) = default;
  };

  int64_t format_version = kFormatVersion;
  std::string run_id;
  // Of the line of steps: the run_id at its first step, so that a fork, which
  // goes on from another run's state, begins a lineage of its own.
  std::string lineage;
  Parent parent;
  int64_t created_ms = 0;  // since 1970
  Code code;
  RecipeIdentity recipe;
  std::string order;                             // "amx32", "fp32chain"
  std::string compiler;                          // with the flags that matter
  std::map<std::string, std::string> libraries;  // name -> version
  std::string image_digest;                      // LOCKSTEP_IMAGE_DIGEST or ""
  std::map<std::string, std::string> hardware;   // cpu_model, isa, hostname ...
  std::vector<DataFile> data;                    // in the order of the recipe
  std::string
      working_dir;  // absolute: what relative paths of `data` count from
  Tokenizer tokenizer;
  Layout layout;
  uint64_t root_seed = 0;
  Guarantee guarantee = Guarantee::kBitwise;
  int64_t schedule_length_samples = 0;
  std::string ledger_head;          // when this was written
  std::vector<std::string> faults;  // specs of faults on purpose
  // Oldest first; of one that came again from another step the first.
  std::vector<Allowed> allowed;
  // From this step on all of them are listed; absent: a manifest of before they
  // were, so nobody knows.
  std::optional<int64_t> allowed_since;
};

// Adds what is not there yet.
void AddAllowed(Manifest& manifest, const Manifest::Allowed& allowed);

// Sealed JSON (sealed_json.h): the same manifest is the same bytes.
std::string ManifestToJson(const Manifest& manifest);

// ManifestMismatch for anything but a whole and unharmed manifest. `where`
// names the file.
absl::StatusOr<Manifest> ManifestFromJson(std::string_view text,
                                          std::string_view where);

// RUN/manifest.json, atomically and durably.
absl::Status WriteManifest(FileSystem& file_system, const std::string& run_dir,
                           const Manifest& manifest);
absl::StatusOr<Manifest> ReadManifest(FileSystem& file_system,
                                      const std::string& run_dir);

}  // namespace lockstep

#endif  // CKPT_MANIFEST_H_
