// The campaign of fingerprint_campaign.h, in full; by hand.
//
//   fingerprint_soak STATE_FILE [--trials=1000000] [--seconds=600]
//
// Each case has its line in the state file, which is replaced after every few
// thousand trials; a later call goes on from there, with more trials too.
// Prints the table of FINGERPRINT.md. Exit 1: a change was missed. Exit 3:
// there was no time for all.

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "determinism/clock.h"
#include "determinism/fingerprint_campaign.h"

namespace lockstep {
namespace {

constexpr uint64_t kChunk = 20'000;

struct Options {
  std::string state_path;
  uint64_t trials = 1'000'000;
  double seconds = 600;
};

using State = std::map<std::string, CampaignCounts>;

State ReadState(const std::string& path) {
  State state;
  std::ifstream file(path);
  std::string name;
  CampaignCounts c;
  while (file >> name >> c.trials >> c.changed >> c.missed >>
         c.missed_by_affine) {
    state[name] = c;
  }
  return state;
}

// By rename, so that a call which ends at any point leaves either the former
// state or the new one. A soak without its state is worth nothing.
void WriteState(const std::string& path, const State& state) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary);
  for (const auto& [name, c] : state) {
    file << name << " " << c.trials << " " << c.changed << " " << c.missed
         << " " << c.missed_by_affine << "\n";
  }
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::perror(path.c_str());
    std::exit(2);
  }
}

struct Outcome {
  bool finished = true;
  uint64_t missed = 0;
};

// All cases in turn, as far as the time goes.
Outcome Run(const Options& options, State& state) {
  RealClock clock;
  const int64_t start = clock.MonotonicNanos();
  Outcome outcome;
  for (int change = 0; change < kChangeCount; ++change) {
    for (int contents = 0; contents < kContentsCount; ++contents) {
      const auto c = static_cast<Change>(change);
      const auto d = static_cast<Contents>(contents);
      CampaignCounts& counts = state[std::string(NameOf(c)) + "/" + NameOf(d)];
      while (counts.trials < options.trials) {
        const double so_far =
            static_cast<double>(clock.MonotonicNanos() - start) * 1e-9;
        if (so_far > options.seconds) break;
        RunTrials(c, d, std::min(kChunk, options.trials - counts.trials),
                  counts);
        WriteState(options.state_path, state);
      }
      outcome.finished = outcome.finished && counts.trials >= options.trials;
      outcome.missed += counts.missed;
    }
  }
  return outcome;
}

void Print(const State& state) {
  std::printf("| case | trials | changed | missed | by affine keys |\n");
  std::printf("|---|---|---|---|---|\n");
  for (const auto& [name, c] : state) {
    std::printf(
        "| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n",
        name.c_str(), c.trials, c.changed, c.missed, c.missed_by_affine);
  }
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text.starts_with("--trials=")) {
      options.trials = std::strtoull(text.c_str() + 9, nullptr, 10);
    } else if (text.starts_with("--seconds=")) {
      options.seconds = std::strtod(text.c_str() + 10, nullptr);
    } else if (!text.starts_with("--") && options.state_path.empty()) {
      options.state_path = text;
    } else {
      return false;
    }
  }
  return !options.state_path.empty() && options.trials > 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: fingerprint_soak STATE_FILE [--trials=N] "
                 "[--seconds=S]\n");
    return 2;
  }
  State state = ReadState(options.state_path);
  const Outcome outcome = Run(options, state);
  Print(state);
  if (outcome.missed > 0) return 1;
  return outcome.finished ? 0 : 3;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::Main(argc, argv); }
