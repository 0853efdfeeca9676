#include "tools/status_ranks.h"

#include <sys/stat.h>

#include "absl/strings/match.h"
#include "tools/foreign_json.h"

namespace lockstep {
namespace {

// 0: not known.
int64_t WrittenMs(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
}

}  // namespace

nlohmann::ordered_json LastWordsOf(FileSystem& fs, const std::string& run_dir,
                                   int64_t started_ms,
                                   const std::string& attempt) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::object();
  const auto names = fs.List(run_dir + "/ranks");
  if (!names.ok()) return ranks;
  for (const std::string& name : *names) {
    if (!absl::EndsWith(name, ".json")) continue;
    const std::string path = run_dir + "/ranks/" + name;
    const auto text = fs.ReadFile(path);
    auto rank = ParseForeign(text.ok() ? *text : "");
    if (!rank.is_object()) rank = {{"unreadable", true}};
    const auto of = TextField(rank, "attempt");
    if (WrittenMs(path) < started_ms ||
        (of && !attempt.empty() && *of != attempt)) {
      rank["earlier_launch"] = true;
    }
    ranks[name.substr(0, name.size() - 5)] = rank;
  }
  return ranks;
}

}  // namespace lockstep
