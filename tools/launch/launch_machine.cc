#include "tools/launch/launch_machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/launch/launch_hosts.h"

namespace lockstep {
namespace {

constexpr int kStopped = 8;

// Ends that trying again does not change.
bool IsFinal(int exit_code) {
  return exit_code == 0 || (exit_code >= 2 && exit_code <= 5);
}

// Of the first of those that failed since the last checkpoint nobody asks
// whether it saved that.
std::string WhyNotAgain(int64_t retries) {
  if (retries == 0) return "; it is not tried again (--retries 0)";
  return retries == 1 ? "; no checkpoint came of the last attempt"
                      : absl::StrCat("; no checkpoint came of the last ",
                                     retries, " attempts");
}

}  // namespace

LaunchMachine::Actions LaunchMachine::Begin(int64_t now_ms) {
  asked_since_ms_ = now_ms;
  state_ = State::kAsking;
  return {{.kind = LaunchAction::kAskHosts, .message = reason_}};
}

LaunchMachine::Actions LaunchMachine::Probed(
    const std::map<std::string, std::string>& silent) {
  if (!running()) return {};
  for (auto& [host, times] : silent_) {
    const auto found = silent.find(host);
    times = found == silent.end() ? 0 : times + 1;
    if (times < policy_.silent_probes || killed_) continue;
    lost_host_ = host;
    return Kill(absl::StrCat(host, " does not answer: ", found->second));
  }
  return {};
}

LaunchMachine::Actions LaunchMachine::JobEnded(int64_t now_ms,
                                               const JobEnd& end) {
  if (!running()) return {};
  const bool stopping = state_ == State::kStopping;
  if (IsFinal(end.exit_code)) return End(end.exit_code, end.what);
  if (end.exit_code == kStopped) return End(kStopped, end.what);
  if (stopping) {
    return End(
        kStopped,
        absl::StrCat("the job ended before it said that it had saved; ",
                     end.saved_step < 0
                         ? "there is no checkpoint"
                         : absl::StrCat("the newest checkpoint is of step ",
                                        end.saved_step),
                     end.what.empty() ? "" : ": ", end.what));
  }
  return Retry(now_ms, end);
}

LaunchMachine::Actions LaunchMachine::Retry(int64_t now_ms, JobEnd end) {
  if (!lost_host_.empty()) {
    end.host = lost_host_;
    end.what = "it did not answer its probes";
  }
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
    const int code = end.exit_code == 7 ? 7 : kLaunchRankLost;
    return End(code, reason_ + WhyNotAgain(policy_.retries));
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
