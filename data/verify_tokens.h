// What `data verify` says of a pair or of shards.
//
// What it is: every byte against its block hash, and then the opening that
// training does, so that what is said to hold is not refused by a run. What has
// no block hashes gets them, once the opening has found nothing. What it is
// not: a check of ids, which needs a model's vocabulary (TokenStore::Read). Why
// so: two readers of one format come to differ.

#ifndef DATA_VERIFY_TOKENS_H_
#define DATA_VERIFY_TOKENS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TokenVerification {
  std::vector<DataDamage> damage;  // empty: all holds
  std::vector<std::string>
      written;               // .blocks files; none where there is damage
  std::string content_hash;  // empty where there is damage
};

// `path` as in a recipe's data.source; a pair's also with .bin or .idx.
// InputError for what training would refuse whatever the recipe, unless damage
// is the reason.
absl::StatusOr<TokenVerification> VerifyTokens(FileSystem& fs,
                                               const std::string& path);

}  // namespace lockstep

#endif  // DATA_VERIFY_TOKENS_H_
