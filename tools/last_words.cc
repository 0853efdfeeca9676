#include "tools/last_words.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Whole or not there, as with WriteFileAtomically, but not waited for: a
// launcher leaves a second between SIGTERM and SIGKILL, and a disk that others
// keep busy takes longer to sync. What ends here is a process, not the machine:
// who reads these words reads them from the page cache.
absl::Status WriteUnsynced(FileSystem& fs, const std::string& path,
                           const std::string& contents) {
  const std::string temporary = path + ".tmp";
  LS_ASSIGN_OR_RETURN(auto file, fs.Create(temporary));
  LS_RETURN_IF_ERROR(file->Append(contents));
  LS_RETURN_IF_ERROR(file->Close());
  return fs.Rename(temporary, path);
}

}  // namespace

void WriteLastWords(const std::string& run_dir, const LastWords& words) {
  if (run_dir.empty()) return;
  nlohmann::ordered_json json = {{"rank", words.rank},
                                 {"step", words.step},
                                 {"group", words.group},
                                 {"collective", words.collective},
                                 {"waited_for", words.waited_for},
                                 {"waited_ms", words.waited_ms},
                                 {"cause", words.cause}};
  // A rank that was cut off from its job may say this during the next one.
  if (const char* const attempt = std::getenv("LOCKSTEP_ATTEMPT")) {
    json["attempt"] = attempt;
  }
  FileSystem& fs = *PosixFileSystem();
  const std::string folder = run_dir + "/ranks";
  absl::Status written = fs.MakeDirs(folder);
  if (written.ok()) {
    written = WriteUnsynced(fs, absl::StrCat(folder, "/", words.rank, ".json"),
                            json.dump(2) + "\n");
  }
  if (!written.ok()) {
    std::fprintf(stderr, "the last words of rank %d are lost: %s\n%s\n",
                 words.rank, std::string(written.message()).c_str(),
                 json.dump().c_str());
  }
}

}  // namespace lockstep
