// A file of tokens whose bytes are checked before they are believed.
//
// Read with pread, never through a mapping: a page beyond a new, shorter end
// kills the process that touches it, and a look at the size beforehand leaves
// a moment between the two. A sample is a few KiB, so the copy costs nothing.
//
// Two checks. With block hashes, each MiB is hashed when it is first read, so
// that a file that was changed since it was made stops the run at the block,
// not only at the next `data verify`; a terabyte is not read at the start. And
// after each read the open file's size and modification time must be those of
// the open, so that what was checked once cannot have changed since. A file
// that another was renamed over is still the old one for who has it open: a
// run goes on with it.
//
// Safe to use from several threads once Expect has been called.

#ifndef DATA_CHECKED_FILE_H_
#define DATA_CHECKED_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "determinism/file_system.h"

namespace lockstep {

class CheckedFile {
 public:
  static absl::StatusOr<std::unique_ptr<CheckedFile>> Open(
      FileSystem& fs, const std::string& path);

  uint64_t size() const { return file_->Size(); }

  // The hashes to hold the blocks against, ceil(size / MiB) of them.
  void Expect(std::vector<Digest> blocks);

  // `bytes` bytes from `from` on, which lie inside the file (LS_CHECK).
  // InputError, naming file and block, for a block that is not what its hash
  // says and for a file that has shrunk or changed since it was opened.
  absl::Status Read(uint64_t from, size_t bytes, void* out) const;

  // Reads block `block` against its hash, unless that was done before.
  absl::Status CheckBlock(uint64_t block) const;

  const std::string& path() const { return path_; }

  // The digests of all blocks as they are now.
  absl::StatusOr<std::vector<Digest>> HashBlocks() const;
  // One digest of the whole file as it is now.
  absl::StatusOr<Digest> HashWhole() const;

 private:
  CheckedFile() = default;
  absl::Status ReadUnchanged(uint64_t from, size_t bytes, void* out) const;

  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
  std::vector<Digest> expected_;
  // Of each block; two threads may check one at a time, to the same end.
  std::unique_ptr<std::atomic<bool>[]> holds_;
};

// Holds `bin` and `index` against `hashes`, which `where` says: sizes, a small
// index as a whole and the ends of `bin` now, each other block when it is first
// read. A side file that stayed behind when its files were replaced would lend
// them a false identity.
absl::Status HoldAgainst(BlockHashes hashes, const std::string& where,
                         const CheckedFile& index, CheckedFile& bin);

}  // namespace lockstep

#endif  // DATA_CHECKED_FILE_H_
