// Which files a path of llm.c shards means, and in which order.
//
// A folder (its *.bin), a pattern in the last part of the path (fineweb_*.bin),
// a list (a *.list file, a path a line, counted from its folder), or one .bin
// file that has no .idx beside it. Names in the byte order of List, so that the
// order of tokens does not depend on the file system; a list keeps its own.

#ifndef DATA_SHARD_LIST_H_
#define DATA_SHARD_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// Whether `path` means shards, and not the prefix of a pair (which stands first
// where both are there).
bool NamesShards(FileSystem& fs, const std::string& path);

// The shards' paths, each once and at least one. InputError where there is
// none, where one is named twice, and for a pattern among the folders.
absl::StatusOr<std::vector<std::string>> ListShards(FileSystem& fs,
                                                    const std::string& path);

}  // namespace lockstep

#endif  // DATA_SHARD_LIST_H_
