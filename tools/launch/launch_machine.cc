#include "tools/launch/launch_machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/launch/launch_hosts.h"

namespace lockstep {
namespace {

constexpr int kRankLost = 6;
constexpr int kStopped = 8;

// Ends that trying again does not change.
bool IsFinal(int exit_code) {
  return exit_code == 0 || (exit_code >= 2 && exit_code <= 5);
}

}  // namespace

LaunchMachine::Actions LaunchMachine::Begin(int64_t now_ms) {
  asked_since_ms_ = now_ms;
  state_ = State::kAsking;
  return {{.kind = LaunchAction::kAskHosts, .message = reason_}};
}

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
      kRankLost,
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
  words_ms_ = -1;
  killed_ = false;
  return {std::move(start)};
}

LaunchMachine::Actions LaunchMachine::JobEnded(int64_t now_ms,
                                               const JobEnd& end) {
  if (!running()) return {};
  const bool stopping = state_ == State::kStopping;
  if (IsFinal(end.exit_code)) return End(end.exit_code, end.what);
  if (end.exit_code == kStopped) return End(kStopped, end.what);
  if (stopping) {
    return End(kStopped,
               absl::StrCat("stopped, and not saved after the last checkpoint",
                            end.what.empty() ? "" : ": ", end.what));
  }
  return Retry(now_ms, end);
}

LaunchMachine::Actions LaunchMachine::Retry(int64_t now_ms, const JobEnd& end) {
  if (end.saved_step > saved_step_) failures_ = 0;
  saved_step_ = std::max(saved_step_, end.saved_step);
  ++failures_;
  if (!end.host.empty() && ++failed_at_[{end.step, end.host}] == 2) {
    excluded_.insert(end.host);
  }
  reason_ = absl::StrCat("failure ", failures_, " of the job (exit code ",
                         end.exit_code, ") in step ", end.step,
                         end.host.empty() ? "" : " on " + end.host,
                         end.what.empty() ? "" : ": " + end.what);
  if (failures_ > policy_.retries) {
    const int code = end.exit_code == 7 ? 7 : kRankLost;
    return End(code, absl::StrCat(reason_, "; no checkpoint came of the last ",
                                  policy_.retries, " attempts"));
  }
  const int64_t doublings = std::min<int64_t>(failures_ - 1, 30);
  state_ = State::kWaiting;
  asked_since_ms_ = now_ms;
  next_ms_ = now_ms + std::min(policy_.first_backoff_ms << doublings,
                               policy_.most_backoff_ms);
  return {};
}

LaunchMachine::Actions LaunchMachine::ToldToStop(int64_t now_ms) {
  switch (state_) {
    case State::kRunning:
      state_ = State::kStopping;
      stop_ms_ = now_ms;
      return {{.kind = LaunchAction::kTellToStop}};
    case State::kStopping:
      return Kill("told twice to stop");
    case State::kAsking:
    case State::kWaiting:
      return End(kStopped, "stopped between two attempts");
    case State::kDone:
      break;
  }
  return {};
}

LaunchMachine::Actions LaunchMachine::WordsSeen(int64_t now_ms) {
  if (running() && words_ms_ < 0) words_ms_ = now_ms;
  return {};
}

LaunchMachine::Actions LaunchMachine::Tick(int64_t now_ms) {
  if (state_ == State::kWaiting && now_ms >= next_ms_) {
    state_ = State::kAsking;
    return {{.kind = LaunchAction::kAskHosts, .message = reason_}};
  }
  if (!running() || killed_) return {};
  if (words_ms_ >= 0 && now_ms - words_ms_ >= policy_.lost_ms) {
    return Kill("a rank has left its last words, and the job goes on");
  }
  if (state_ == State::kStopping && now_ms - stop_ms_ >= policy_.stop_ms) {
    return Kill("the job did not stop when it was told to");
  }
  return {};
}

LaunchMachine::Actions LaunchMachine::Kill(const std::string& why) {
  if (killed_) return {};
  killed_ = true;
  return {{.kind = LaunchAction::kKill, .message = why}};
}

LaunchMachine::Actions LaunchMachine::End(int exit_code,
                                          const std::string& message) {
  state_ = State::kDone;
  return {
      {.kind = LaunchAction::kEnd, .exit_code = exit_code, .message = message}};
}

}  // namespace lockstep
