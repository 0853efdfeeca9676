#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

constexpr int64_t kTerminalIntervalNs = 100'000'000;
constexpr int64_t kLogIntervalNs = 10'000'000'000;

std::string TimeLeft(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return absl::StrFormat("%dh%02dm", s / 3600, s / 60 % 60);
  return absl::StrFormat("%dm%02ds", s / 60, s % 60);
}

}  // namespace

Progress::Progress(Clock& clock, RankLog& log, int64_t first_step,
                   int64_t last_step, bool quiet)
    : clock_(clock),
      log_(log),
      first_step_(first_step),
      last_step_(last_step),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_ns_(clock.MonotonicNanos()) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

bool Progress::Due(const StepReport& report) {
  const int64_t now = clock_.MonotonicNanos();
  const int64_t interval = terminal_ ? kTerminalIntervalNs : kLogIntervalNs;
  const bool edge = report.step == first_step_ || report.step == last_step_;
  if (!edge && now - shown_ns_ < interval) return false;
  shown_ns_ = now;
  return true;
}

void Progress::Step(const StepReport& report) {
  if (quiet_ || !Due(report)) return;
  const double elapsed =
      static_cast<double>(clock_.MonotonicNanos() - start_ns_) * 1e-9;
  const auto done = static_cast<double>(report.step - first_step_ + 1);
  const auto left = static_cast<double>(last_step_ - report.step);
  const std::string line = absl::StrFormat(
      "step %d/%d  loss %.4f  grad_norm %.3f  lr %.2e  %.0f tokens/s  mfu "
      "%.1f%%  %s left",
      report.step, last_step_, report.loss, report.grad_norm, report.lr,
      report.tokens_per_s, report.mfu * 100, TimeLeft(elapsed / done * left));
  Show(line);
}

void Progress::MicroBatch(int64_t step, int64_t done, int64_t of) {
  const int64_t now = clock_.MonotonicNanos();
  if (step != step_) {
    step_ = step;
    step_ns_ = now;
  }
  if (quiet_ || done == of) return;
  if (now - std::max(step_ns_, shown_ns_) < kLogIntervalNs) return;
  shown_ns_ = now;
  // The first one's time is not known, only when it ended.
  const double a_batch = static_cast<double>(now - step_ns_) * 1e-9 /
                         static_cast<double>(std::max<int64_t>(done - 1, 1));
  Show(absl::StrFormat("step %d/%d  micro-batch %d of %d  %s left of the step",
                       step, last_step_, done, of,
                       TimeLeft(a_batch * static_cast<double>(of - done))));
}

void Progress::Show(std::string_view line) {
  EraseLine();
  std::fwrite(line.data(), 1, line.size(), stderr);
  if (!terminal_) std::fputc('\n', stderr);
  std::fflush(stderr);
  line_open_ = terminal_;
}

void Progress::Say(std::string_view line) {
  log_.Say(line);
  if (!quiet_) Print(line);
}

void Progress::Warn(std::string_view line) {
  log_.Say(line);
  Print(line);
}

void Progress::Print(std::string_view line) {
  EraseLine();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  line_open_ = false;
}

void Progress::EraseLine() {
  if (line_open_) std::fputs("\r\033[K", stderr);
}

}  // namespace lockstep
