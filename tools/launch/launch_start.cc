// Of LaunchMachine: what it does with the hosts there are.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/launch/launch_hosts.h"
#include "tools/launch/launch_machine.h"

namespace lockstep {

LaunchMachine::Actions LaunchMachine::HostsSeen(
    int64_t now_ms, const std::vector<LaunchHost>& hosts) {
  if (state_ != State::kAsking) return {};
  std::vector<LaunchHost> usable;
  for (const LaunchHost& host : hosts) {
    if (!excluded_.contains(host.name)) usable.push_back(host);
  }
  return SlotsIn(usable) >= policy_.wanted.world()
             ? Start(now_ms, policy_.wanted, usable)
             : TooFew(now_ms, usable);
}

LaunchMachine::Actions LaunchMachine::TooFew(
    int64_t now_ms, const std::vector<LaunchHost>& hosts) {
  const int64_t over = asked_since_ms_ + policy_.wait_for_replacement_ms;
  if (now_ms < over) {
    state_ = State::kWaiting;
    next_ms_ = std::min(now_ms + policy_.ask_every_ms, over);
    return {};
  }
  const auto smaller = Smaller(SlotsIn(hosts));
  if (smaller) return Start(now_ms, *smaller, hosts);
  return End(
      kLaunchRankLost,
      absl::StrCat("after ", reason_, " there are ", SlotsIn(hosts),
                   " slot(s) on ", hosts.size(), " host(s), and the run takes ",
                   policy_.wanted.world(),
                   "; no smaller layout is allowed (elastic.batch, and "
                   "tensor and pipeline degrees are kept)"));
}

std::optional<LaunchLayout> LaunchMachine::Smaller(int64_t slots) const {
  const LaunchLayout& wanted = policy_.wanted;
  const int64_t replica = wanted.tensor * wanted.pipeline;
  for (int64_t data = std::min(slots / replica, wanted.data); data >= 1;
       --data) {
    LaunchLayout layout = wanted;
    layout.data = data;
    const bool even = wanted.micro_batches % data == 0;
    if (!even && policy_.batch == ElasticBatch::kRefuse) continue;
    if (!even && policy_.batch == ElasticBatch::kNearest) {
      layout.micro_batches = NearestShared(wanted.micro_batches, data);
    }
    if (policy_.fits(layout)) return layout;
  }
  return std::nullopt;
}

LaunchMachine::Actions LaunchMachine::Start(
    int64_t now_ms, const LaunchLayout& layout,
    const std::vector<LaunchHost>& hosts) {
  LaunchAction start = {.kind = LaunchAction::kStart, .layout = layout};
  start.hosts = Chosen(hosts, layout.world());
  start.idle = IdleOf(start.hosts, hosts, layout.world());
  start.message = reason_;
  const LaunchLayout& before = last_ ? *last_ : policy_.wanted;
  if (!(before == layout)) {
    start.resize = LaunchResize{before, reason_, now_ms - asked_since_ms_};
  }
  last_ = layout;
  state_ = State::kRunning;
  silent_.clear();
  for (const LaunchHost& host : start.hosts) silent_[host.name] = 0;
  lost_host_.clear();
  words_ms_ = -1;
  killed_ = false;
  return {std::move(start)};
}

LaunchMachine::Actions LaunchMachine::RunHeld(int64_t now_ms,
                                              const std::string& holder) {
  if (state_ != State::kAsking) return {};
  if (now_ms - asked_since_ms_ >= policy_.held_ms) {
    return End(kLaunchRankLost, absl::StrCat("after ", reason_, " ", holder,
                                             " still has the run"));
  }
  state_ = State::kWaiting;
  next_ms_ = now_ms + policy_.first_backoff_ms;
  return {};
}

}  // namespace lockstep
