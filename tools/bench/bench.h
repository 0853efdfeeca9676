// A bench: what it measures, how it answers.
//
// What it is: cases with a rate, and beside each the rate of a probe that ran
// in turns with it on the same machine in the same minute. What it is not: a
// verdict, or a figure to quote: machines differ and are shared, so ratios of
// one run are what counts. Benches are listed in registry.cc.
#ifndef LOCKSTEP_TOOLS_BENCH_BENCH_H_
#define LOCKSTEP_TOOLS_BENCH_BENCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

struct BenchCase {
  std::string name = {};
  int threads = 1;
  double rate = 0;  // in `unit`
  std::string unit = {};
  // What the machine could do at the same time, in `unit` too; 0: no probe.
  double probe = 0;
  double ratio = 0;  // rate / probe
  // Of a ratio that was measured in pairs, with 95 %; 0: none was.
  double ratio_low = 0, ratio_high = 0;
  // Somebody else's code given the same work; empty: none.
  std::string peer = {};
  double peer_ratio = 0;  // rate / the peer's rate
};

struct BenchOptions {
  std::string peer = {};     // empty: none
  int64_t threads = 1;       // at most; a bench may have cases of fewer
  std::string scratch = {};  // an existing folder; empty: the system's
  int64_t rounds = 0;        // repetitions of a measurement; 0: the bench's own
  std::string only = {};     // cases whose name has this in it; empty: all
  int64_t ranks = 2;         // of comm; a launcher's, where there is one
  // Of `step`: what to train, with `sets` over it.
  std::string recipe = "recipes/hybrid_100m.toml";
  std::vector<std::string> sets = {};
};

// InputError for what was asked and does not exist (a peer, say).
using BenchFunction =
    absl::StatusOr<std::vector<BenchCase>> (*)(const BenchOptions& options);

struct Bench {
  const char* name;
  const char* what;
  // The options that it has a use for, by their names on the command line.
  std::vector<std::string> takes;
  BenchFunction run;
  // On other ranks of a launcher it has no case; looks for unknown names in
  // `only` itself.
  bool first_rank_tells = false;
};

// Immutable; the one list of all benches.
const std::vector<Bench>& AllBenches();

// Runs it. InputError for an option it has no use for, and where `only` leaves
// no case. Empty on ranks of a launcher that have nothing to tell.
absl::StatusOr<std::vector<BenchCase>> RunBench(const Bench& bench,
                                                const BenchOptions& options);

// {"bench": name, "cases": [...]}, one line.
std::string BenchJson(const std::string& name,
                      const std::vector<BenchCase>& cases);
// For a person.
std::string BenchTable(const std::vector<BenchCase>& cases);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_BENCH_H_
