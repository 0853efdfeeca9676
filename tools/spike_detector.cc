#include "tools/spike_detector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/check.h"
#include "determinism/math64.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little);

// The MAD of a normal distribution times this is its standard deviation.
constexpr double kMadToDeviation = 1.4826;
// A window without any spread would call the next rounding error a spike: the
// deviation is taken to be one percent at least.
constexpr double kLeastDeviation = 0.01;
// A loss or norm of zero has no logarithm.
constexpr double kLeastValue = 1e-30;

double LogOf(double value) { return math64::Log(std::max(value, kLeastValue)); }

// Sorting finite numbers has one result, so the order of the window is no
// order of summation.
double MedianOf(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) * 0.5;
}

// The last `count` of them.
std::vector<double> Unpack(const std::string& bytes, int64_t count) {
  const size_t all = bytes.size() / sizeof(double);
  const size_t n = std::min(all, static_cast<size_t>(count));
  std::vector<double> values(n);
  if (n > 0) {
    std::memcpy(values.data(), bytes.data() + (all - n) * sizeof(double),
                n * sizeof(double));
  }
  return values;
}

void Push(std::string& bytes, double value, int64_t count) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  const size_t most = static_cast<size_t>(count) * sizeof(double);
  if (bytes.size() > most) bytes.erase(0, bytes.size() - most);
}

std::optional<Spike> JudgeOne(const char* what, const std::string& history,
                              double value, const SpikeConfig& config) {
  const RobustLimit robust =
      LimitOf(Unpack(history, config.window), config.threshold);
  if (LogOf(value) <= robust.limit) return std::nullopt;
  return Spike{what, value, math64::Exp(robust.median),
               math64::Exp(robust.limit)};
}

}  // namespace

void DescribeSection(Section& section, SpikeConfig& config) {
  section.Choice("action", config.action, {"off", "note", "skip", "stop"},
                 {.help = "what a spike of loss or gradient norm leads to"});
  section.Int("window", config.window,
              {.min = 4, .max = 1 << 16, .help = "updates that are compared"});
  section.Int("warmup", config.warmup,
              {.min = 4, .help = "updates before anything is judged"});
  section.Require(config.warmup <= config.window, "warmup",
                  "more updates than spike.window keeps",
                  std::to_string(config.window));
  section.Real("threshold", config.threshold,
               {.min = 1.0,
                .max = 1e6,
                .help = "deviations above the median (1.4826 MAD of the log)"});
  section.Int("skips", config.skips,
              {.min = 1, .help = "most skips in a row; then the run stops"});
}

std::string Spike::Text() const {
  return absl::StrFormat("%s %.6g against a median of %.6g, limit %.6g", what,
                         value, median, limit);
}

RobustLimit LimitOf(std::vector<double> history, double threshold) {
  LS_CHECK(!history.empty());
  const double median = MedianOf(history);
  for (double& value : history) value = std::abs(value - median);
  const double deviation =
      std::max(kMadToDeviation * MedianOf(history), kLeastDeviation);
  return {median, median + threshold * deviation};
}

SpikeDetector::SpikeDetector(StateRegistry& registry, const SpikeConfig& config)
    : Stateful(registry, "spike"), config_(config) {}

std::optional<Spike> SpikeDetector::Judge(double loss, double grad_norm) const {
  const auto known = static_cast<int64_t>(losses_.size() / sizeof(double));
  if (config_.action == "off" || known < config_.warmup) return std::nullopt;
  if (auto spike = JudgeOne("loss", losses_, loss, config_)) return spike;
  return JudgeOne("grad_norm", grad_norms_, grad_norm, config_);
}

bool SpikeDetector::Skips() const {
  return config_.action == "skip" && !Stops();
}

// A run that skips every step would wait for weights that never move.
bool SpikeDetector::Stops() const {
  return config_.action == "stop" ||
         (config_.action == "skip" &&
          skipped_in_a_row_ >= static_cast<uint64_t>(config_.skips));
}

absl::Status SpikeDetector::Stopped(const Spike& spike,
                                    std::string_view where) const {
  const std::string why =
      config_.action == "stop"
          ? "spike.action = stop"
          : absl::StrCat("spike.skips = ", config_.skips,
                         " steps in a row were skipped before it");
  return NumericFailure(
      absl::StrCat("a spike: ", spike.Text(), " (", why, ")"), where,
      "the step was not applied and no checkpoint was written; look at these "
      "samples, resume from an earlier checkpoint, or raise spike.threshold");
}

void SpikeDetector::Applied(double loss, double grad_norm) {
  Push(losses_, LogOf(loss), config_.window);
  Push(grad_norms_, LogOf(grad_norm), config_.window);
  skipped_in_a_row_ = 0;
}

void SpikeDetector::VisitState(StateVisitor& visitor) {
  visitor.Bytes("losses", StateGroup::kSpike, losses_);
  visitor.Bytes("grad_norms", StateGroup::kSpike, grad_norms_);
  visitor.U64("skipped_in_a_row", StateGroup::kSpike, skipped_in_a_row_);
}

}  // namespace lockstep
