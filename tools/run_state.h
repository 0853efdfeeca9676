// Counters, cursor and seed of a run: the state that belongs to no component.
//
// What it is: the registered numbers that say where a run stands. What it is
// not: Adam's t (the optimizer's) or anything that follows from these. Why so:
// iterations, updates and samples are counters of their own, since a skipped
// step moves the first and the last and not the second; the cursor is the
// global sample index and nothing else, so another batch size continues where
// this one stopped.
#ifndef LOCKSTEP_TOOLS_RUN_STATE_H_
#define LOCKSTEP_TOOLS_RUN_STATE_H_

#include <cstdint>
#include <string>

#include "determinism/state.h"

namespace lockstep {

class RunState : public Stateful {
 public:
  RunState(StateRegistry& registry, uint64_t seed)
      : Stateful(registry, "run"), seed(seed) {}

  uint64_t iterations = 0;      // steps done; 1 = after the first
  uint64_t skipped = 0;         // of them, without an update
  uint64_t samples_seen = 0;    // consumed, skipped updates included
  uint64_t tokens_seen = 0;     // samples_seen times the sequence length
  uint64_t update_samples = 0;  // samples of completed updates: the schedule's
  uint64_t cursor = 0;          // global index of the next sample
  uint64_t seed = 0;
  // Which streams exist and how they are keyed; a change of the table is a
  // change of every random number, so it is state.
  std::string stream_table =
      "philox4x32-10;init=1,order=2,blend=3,hidden_dropout=4,generate=5";

  void VisitState(StateVisitor& visitor) override {
    visitor.U64("iterations", StateGroup::kCounter, iterations);
    visitor.U64("skipped", StateGroup::kCounter, skipped);
    visitor.U64("samples_seen", StateGroup::kCounter, samples_seen);
    visitor.U64("tokens_seen", StateGroup::kCounter, tokens_seen);
    visitor.U64("update_samples", StateGroup::kCounter, update_samples);
    visitor.U64("cursor", StateGroup::kData, cursor);
    visitor.U64("seed", StateGroup::kRandom, seed);
    visitor.Bytes("stream_table", StateGroup::kRandom, stream_table);
  }
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_STATE_H_
