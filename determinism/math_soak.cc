// Checks math.h on every binary32 input (N8), in chunks that can be resumed.
//
//   math_soak STATE_FILE [--function=exp] [--stride=1] [--mpfr_every=1]
//             [--seconds=600]
//
// Inputs go from the negative NaNs over -infinity to +infinity in ascending
// order, so that monotonicity is seen as well. MPFR judges every mpfr_every-th
// input; the others are first compared with libm's binary64 value, and MPFR is
// asked only where that does not show that the error is below the largest one
// so far. mpfr_every=1 is MPFR alone. After each chunk of 2^22 inputs the state
// file is replaced; a later call goes on from there, and a finished function is
// only reported. Exit 1: a bound or monotonicity does not hold.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math_array.h"
#include "determinism/math_reference.h"
#include "determinism/math_soak_state.h"

namespace lockstep {
namespace {

constexpr uint64_t kInputs = uint64_t{1} << 32;
constexpr uint64_t kChunk = uint64_t{1} << 22;

struct Options {
  std::string state_path;
  std::string function;  // empty: all
  uint64_t stride = 1;
  uint64_t mpfr_every = 1;
  double seconds = 600.0;
};

// The position-th binary32 in ascending order.
float InputAt(uint64_t position) {
  const auto p = static_cast<uint32_t>(position);
  return std::bit_cast<float>(p >= 0x80000000u ? p - 0x80000000u
                                               : 0xffffffffu - p);
}

std::string KeyOf(const Options& options, const char* function) {
  return std::string(function) + "/" + std::to_string(options.stride) + "/" +
         std::to_string(options.mpfr_every);
}

void JudgeOne(const ReferenceFunction& function, const Options& options,
              MathReference& reference, float x, float y,
              SoakProgress& progress) {
  const bool in_turn = progress.checked % options.mpfr_every == 0;
  ++progress.checked;
  const float last = std::bit_cast<float>(progress.last_y_bits);
  const bool wrong_way = function.monotone > 0 ? y < last : y > last;
  progress.not_monotone += function.monotone != 0 && wrong_way;
  progress.last_y_bits = std::bit_cast<uint32_t>(y);
  const double limit_ulp = std::max(progress.worst_ulp, 0.2);
  if (!in_turn && MathReference::PlainlyWithin(function, x, y, limit_ulp)) {
    return;
  }
  ++progress.by_mpfr;
  const double error = reference.ErrorUlp(function, x, y);
  if (error <= progress.worst_ulp) return;
  progress.worst_ulp = error;
  progress.worst_bits = std::bit_cast<uint32_t>(x);
}

// The inputs from progress.next on; NaN compares as neither above nor below.
void Chunk(const ReferenceFunction& function, const Options& options,
           MathReference& reference, SoakProgress& progress) {
  static std::vector<float> x, y;
  x.clear();
  for (uint64_t i = 0; i < kChunk && progress.next < kInputs; ++i) {
    x.push_back(InputAt(progress.next));
    progress.next += options.stride;
  }
  y.resize(x.size());
  {
    const ScopedFloatEnv env;
    const ArrayFunctions arrays = ArrayLevelsHere().back().functions;
    (arrays.*function.array)(x.data(), y.data(),
                             static_cast<int64_t>(x.size()));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    // A new start where +0 follows -0: rsqrt jumps from -infinity there.
    if (std::bit_cast<uint32_t>(x[i]) < options.stride) {
      progress.last_y_bits = 0x7fc00000;
    }
    JudgeOne(function, options, reference, x[i], y[i], progress);
  }
}

bool Report(const ReferenceFunction& function, const SoakProgress& p) {
  const bool good =
      p.worst_ulp <= function.max_error_ulp && p.not_monotone == 0;
  std::printf("%-9s %s inputs %" PRIu64 " by MPFR %" PRIu64
              " worst %.4f ulp at %a (bound %.2f) not monotone %" PRIu64 "%s\n",
              function.name, p.next >= kInputs ? "complete" : "partial",
              p.checked, p.by_mpfr, p.worst_ulp,
              static_cast<double>(std::bit_cast<float>(p.worst_bits)),
              function.max_error_ulp, p.not_monotone, good ? "" : "  FAILED");
  return good;
}

bool Soak(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  SoakState state = ReadSoakState(options.state_path);
  MathReference reference;
  bool good = true;
  for (const ReferenceFunction& function : ReferenceFunctions()) {
    if (!options.function.empty() && options.function != function.name)
      continue;
    SoakProgress& progress = state[KeyOf(options, function.name)];
    while (progress.next < kInputs &&
           std::chrono::duration<double>(Clock::now() - start).count() <
               options.seconds) {
      Chunk(function, options, reference, progress);
      WriteSoakState(options.state_path, state);
    }
    good = Report(function, progress) && good;
  }
  return good;
}

// False where an argument is not understood.
bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const char* value = equals == std::string::npos ? "" : argv[i] + equals + 1;
    if (key == "--function") {
      options.function = value;
    } else if (key == "--stride") {
      options.stride = std::strtoull(value, nullptr, 10);
    } else if (key == "--mpfr_every") {
      options.mpfr_every = std::strtoull(value, nullptr, 10);
    } else if (key == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (argument.starts_with("-") || !options.state_path.empty()) {
      return false;
    } else {
      options.state_path = argument;
    }
  }
  return !options.state_path.empty() && options.stride > 0 &&
         options.mpfr_every > 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  lockstep::Options options;
  if (!lockstep::Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: math_soak STATE_FILE [--function=NAME] [--stride=N] "
                 "[--mpfr_every=N] [--seconds=S]\n");
    return 2;
  }
  return lockstep::Soak(options) ? 0 : 1;
}
