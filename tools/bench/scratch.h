// A folder for the files of a bench, and text to fill it with.
#ifndef LOCKSTEP_TOOLS_BENCH_SCRATCH_H_
#define LOCKSTEP_TOOLS_BENCH_SCRATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/run_lock.h"
#include "determinism/file_system.h"

namespace lockstep {

// A folder that is gone at the end. One whose program was killed is gone when
// the next is made beside it: its file `alive` is locked by nobody.
class Scratch {
 public:
  // Below `parent`, or the system's folder for temporary files. InputError
  // where none can be made.
  static absl::StatusOr<Scratch> Make(const std::string& parent);
  Scratch(Scratch&& other) noexcept
      : dir_(std::move(other.dir_)), alive_(std::move(other.alive_)) {
    other.dir_.clear();
  }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& dir() const { return dir_; }
  std::string operator/(const std::string& name) const {
    return dir_ + "/" + name;
  }

 private:
  Scratch(std::string dir, std::unique_ptr<HeldFile> alive)
      : dir_(std::move(dir)), alive_(std::move(alive)) {}
  std::string dir_;
  std::unique_ptr<HeldFile> alive_;
};

// Words and blank lines, not the same twice within a MiB; whole MiB.
absl::Status WriteBenchText(FileSystem& fs, const std::string& path,
                            uint64_t bytes);
// Makes a recipe train on that text, some of it held out.
std::vector<std::string> BenchTextSets(const std::string& path);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_SCRATCH_H_
