// Who holds RUN/lock, told from its text and the kernel's list of locks.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/foreign_json.h"
#include "tools/status.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// "1: FLOCK  ADVISORY  WRITE 3909 fe:00:10952756 0 EOF"
bool IsHeld(const std::string& locks, int64_t pid, uint64_t inode) {
  const std::string holder = std::to_string(pid);
  const std::string file = absl::StrCat(":", inode);
  for (const auto line : absl::StrSplit(locks, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() > 5 && words[1] == "FLOCK" && words[4] == holder &&
        absl::EndsWith(words[5], file)) {
      return true;
    }
  }
  return false;
}

}  // namespace

const char* NameOf(TrainerState state) {
  switch (state) {
    case TrainerState::kAlive:
      return "alive";
    case TrainerState::kStale:
      return "stale";
    case TrainerState::kElsewhere:
      return "elsewhere";
    case TrainerState::kNone:
      break;
  }
  return "none";
}

Json LastLine(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.rfind('\n');
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);  // what followed was not whole
    const size_t begin = text.rfind('\n');
    const auto line = ParseForeign<Json>(
        begin == std::string_view::npos ? text : text.substr(begin + 1));
    if (line.is_object()) return line;
  }
  return Json();
}

TrainerStatus JudgeLock(const std::string& lock_file, const std::string& host,
                        bool ended, const std::string& locks,
                        uint64_t lock_inode) {
  TrainerStatus trainer;
  const Json line = LastLine(lock_file);
  if (!line.is_object()) return trainer;
  trainer.pid = WholeField(line, "pid").value_or(0);
  trainer.host = TextField(line, "host").value_or("");
  trainer.generation = WholeField(line, "generation").value_or(0);
  trainer.since_ms = WholeField(line, "time_ms").value_or(0);
  if (trainer.host == host && IsHeld(locks, trainer.pid, lock_inode)) {
    trainer.state = TrainerState::kAlive;
  } else if (!ended) {
    trainer.state =
        trainer.host == host ? TrainerState::kStale : TrainerState::kElsewhere;
  }
  return trainer;
}

}  // namespace lockstep
