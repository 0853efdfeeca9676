#include "data/kept_tokenizer.h"

#include "data/data_error.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {

std::string KeptTokenizerName(const std::string& identity) {
  return "data/tokenizer-" + identity.substr(0, 16) + ".model";
}

absl::Status KeepTokenizer(FileSystem& fs, const std::string& path,
                           const Tokenizer& tokenizer,
                           const std::string& run_dir) {
  const std::string copy =
      JoinPath(run_dir, KeptTokenizerName(tokenizer.identity()));
  if (!path.ends_with(".model") || fs.Exists(copy)) {
    return absl::OkStatus();
  }
  auto bytes = fs.ReadFile(path);
  if (!bytes.ok()) {
    return AsInputError(bytes.status());
  }
  if (Sha256Hex(*bytes) != tokenizer.identity()) {
    return InputError("the tokenizer's model changed while it was being read",
                      path, "start again when nothing writes to it");
  }
  LS_RETURN_IF_ERROR(fs.MakeDirs(DirName(copy)));
  return WriteFileAtomically(fs, copy, *bytes);
}

}  // namespace lockstep
