#include "model/schedule.h"

#include <cmath>
#include <string_view>

#include "determinism/check.h"
#include "determinism/math64.h"

namespace lockstep {
namespace {

// No run has more steps, and no curve.
constexpr int64_t kMost = int64_t{1} << 28;

// The share of (max - min) left at r, the fraction of the decay that is done.
double DecayFactor(std::string_view shape, double r) {
  if (shape == "cosine" || shape == "wsd_cosine") {
    return 0.5 * (1.0 + math64::CosPi(r));
  }
  if (shape == "wsd_linear") return 1.0 - r;
  if (shape == "wsd_exponential") return 2.0 * math64::Exp2(-r) - 1.0;
  LS_CHECK(shape == "wsd_minus_sqrt") << std::string(shape);
  return 1.0 - std::sqrt(r);
}

}  // namespace

void DescribeSection(Section& section, ScheduleConfig& config) {
  section.Choice("shape", config.shape,
                 {"constant", "cosine", "wsd_linear", "wsd_cosine",
                  "wsd_exponential", "wsd_minus_sqrt"},
                 {.help = "form of the learning-rate curve"});
  section.Int(
      "warmup", config.warmup,
      {.min = 0, .max = kMost, .help = "steps of linear warm-up from init_lr"});
  section.Int(
      "decay", config.decay,
      {.min = 0, .max = kMost, .help = "last steps over which wsd_* decays"});
  section.Int("length", config.length,
              {.min = 1,
               .max = kMost,
               .help = "steps of the whole curve; absent: the run's"});
  section.Real("init_lr", config.init_lr,
               {.min = 0.0, .help = "rate from which warm-up starts"});
  section.Real("min_lr", config.min_lr,
               {.min = 0.0, .help = "rate at the end of the curve"});
  const bool wsd = config.shape.starts_with("wsd_");
  section.Require(!wsd || config.decay > 0, "decay",
                  "a wsd_* shape decays over at least one step", "1");
  section.Require(wsd || config.decay == 0, "decay",
                  "only a wsd_* shape has a decay of its own", "0");
}

double Schedule::At(int64_t samples) const {
  const auto n = static_cast<double>(samples);
  const auto warmup = static_cast<double>(warmup_samples);
  if (samples <= warmup_samples && warmup_samples > 0) {
    return init_lr + (max_lr - init_lr) * n / warmup;
  }
  if (shape == "constant") return max_lr;
  if (samples >= length_samples) return min_lr;
  const auto length = static_cast<double>(length_samples);
  const double start =
      shape == "cosine" ? warmup : length - static_cast<double>(decay_samples);
  if (n <= start) return max_lr;
  const double r = (n - start) / (length - start);
  return min_lr + (max_lr - min_lr) * DecayFactor(shape, r);
}

}  // namespace lockstep
