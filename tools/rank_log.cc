#include "tools/rank_log.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string HostAndProcess() {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '?';
  return absl::StrCat(host, ":", getpid());
}

}  // namespace

absl::Status RankLog::Open(FileSystem& fs, Clock& clock,
                           const std::string& run_dir, int rank) {
  const std::string dir = JoinPath(run_dir, "logs");
  LS_RETURN_IF_ERROR(fs.MakeDirs(dir));
  path_ = JoinPath(dir, absl::StrCat("rank_", rank, ".log"));
  LS_ASSIGN_OR_RETURN(file_, fs.OpenAppend(path_));
  clock_ = &clock;
  who_ = HostAndProcess();
  return absl::OkStatus();
}

absl::Status RankLog::Write(std::string_view text) {
  const std::string time = absl::FormatTime(
      "%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(clock_->UnixMillis()),
      absl::UTCTimeZone());
  LS_RETURN_IF_ERROR(file_->Append(absl::StrCat(
      time, " ", who_, " ",
      absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                          {{"\n", "\n  "}}),
      "\n")));
  return file_->Flush();
}

void RankLog::Say(std::string_view text) {
  if (file_ == nullptr) return;
  const absl::Status written = Write(text);
  if (written.ok()) return;
  file_.reset();
  std::fprintf(stderr, "no more lines in this rank's log: %s\n",
               std::string(written.message()).c_str());
}

}  // namespace lockstep
