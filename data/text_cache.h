// Raw text that a recipe names, prepared once into a cache folder.
//
// The key is the contents: SHA-256 over the bytes of every input file in
// order, how they are read, the tokenizer's identity, the cutting of documents
// and the format's version. Names, sizes and times are no evidence (an edited
// file of the same size must rebuild), so the text is read at every start; a
// corpus too large for that is prepared with `data prepare` and named by
// `path`. A hit is verified against its side file before it is used; a damaged
// one is rebuilt. After a miss the key is computed again, so that no text that
// changed meanwhile stands under the key of another.

#ifndef DATA_TEXT_CACHE_H_
#define DATA_TEXT_CACHE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "data/token_store.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TextCacheRequest {
  std::string input;      // a file or a folder
  std::string cache_dir;  // made if missing
  const Tokenizer* tokenizer = nullptr;
  int64_t document_bytes = 0;
  std::string field = {};  // of JSON lines; empty: "text"
};

// The prefix of a token file pair that holds the input's tokens now.
absl::StatusOr<std::string> PreparedPrefix(FileSystem& fs,
                                           const TextCacheRequest& request,
                                           const DataNotice& notice);

}  // namespace lockstep

#endif  // DATA_TEXT_CACHE_H_
