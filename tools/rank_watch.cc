#include "tools/rank_watch.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "parallel/watchdog.h"
#include "tools/last_words.h"
#include "tools/term_watch.h"

namespace lockstep {
namespace {

absl::Status LostHere(const LastWords& words) {
  return RankLost(words.cause, absl::StrCat("rank ", words.rank),
                  "run the same command again to go on from the last "
                  "checkpoint");
}

// A launcher ends this process: within a second, so first the words.
[[noreturn]] void EndAsTold(const Watchdog& watchdog, const Communicator& world,
                            LastWordsFolder& folder) {
  LastWords words = watchdog.Now();
  words.waited_for = world.AwaitedRanks();
  words.cause =
      "told to end by SIGTERM, which a launcher sends once another rank is "
      "gone";
  folder.Write(words);
  EndProcess(LostHere(words));
}

}  // namespace

void EndProcess(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::fflush(nullptr);
  std::_Exit(ExitCodeFor(status));
}

absl::Status RunWatched(std::unique_ptr<Communicator> inner, RankHandle handle,
                        const RankOptions& options, Clock& clock,
                        const std::function<absl::Status(RankHandle&)>& body) {
  LastWordsFolder folder;
  handle.last_words = &folder;
  // Not watched: a save may take its time, and the watchdog has one call of a
  // rank in view, that of its steps. Who waits in here has the same limit.
  std::unique_ptr<Communicator> save_ranks;
  if (handle.two_threads) {
    LS_ASSIGN_OR_RETURN(save_ranks, inner->Split(0, inner->rank()));
    handle.save_ranks = save_ranks.get();
  }
  if (inner->size() == 1 && options.step_timeout_ms == 0) {
    handle.world = inner.get();
    return body(handle);
  }
  const std::thread::id self = std::this_thread::get_id();
  const int rank = inner->rank();
  Watchdog watchdog({.rank = rank,
                     .timeout_ms = options.timeout_ms,
                     .step_timeout_ms = options.step_timeout_ms},
                    &clock, [&, self](const LastWords& words) {
                      folder.Write(words);
                      if (std::this_thread::get_id() == self) return;
                      std::this_thread::sleep_for(kLinger);
                      EndProcess(LostHere(words));
                    });
  const auto world = WatchCommunicator(std::move(inner), &watchdog, "world");
  handle.world = world.get();
  handle.watchdog = &watchdog;
  std::optional<TermWatch> term;
  if (handle.launched) {
    term.emplace([&] { EndAsTold(watchdog, *world, folder); });
  }
  return body(handle);
}

}  // namespace lockstep
