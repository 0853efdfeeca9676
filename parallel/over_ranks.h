// What the ranks of a step found, merged so that all of them know the same.
//
// What it is: exact sums, fingerprints, the first of what each found, errors,
// and texts, each merged by integers or copied. What it is not: gradients or
// activations (model/). Why so: what a step decides (skip, stop, clip, spike)
// must be decided alike everywhere, and it is if everyone decides from these.
#ifndef PARALLEL_OVER_RANKS_H_
#define PARALLEL_OVER_RANKS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/exact_sum.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"
#include "determinism/state_fingerprint.h"
#include "parallel/communicator.h"

namespace lockstep {

// Communicator::Agree, which leaves a rank that is alone its own words.
absl::Status AgreeOverRanks(Communicator& world, const absl::Status& mine);

// `sum` becomes the sum of all.
absl::Status AddOverRanks(Communicator& world, ExactSum& sum);
absl::Status AddOverRanks(Communicator& world, std::span<int64_t> counts);
// Lane by lane; every rank brings as many, in the same order.
absl::Status AddOverRanks(Communicator& world,
                          const std::vector<Fingerprint*>& fingerprints);

// Of the given groups, over all ranks: what StateTensorFingerprints is on a
// rank that has everything. Every rank has the same entries; masters, moments
// and run-time weights are shared out in boxes, all else stands on every rank.
// `known`: what this rank need not read again.
absl::StatusOr<std::vector<TensorFingerprint>> WholeState(
    Communicator& world, const StateRegistry& registry, StateGroupSet groups,
    const KnownFingerprints& known = {});
inline constexpr StateGroupSet kSharedState = SetOf(StateGroup::kMaster) |
                                              SetOf(StateGroup::kMoment) |
                                              SetOf(StateGroup::kRuntime);

// `text` of the first rank, on all; and the text of each rank, on all.
absl::Status BroadcastText(Communicator& world, std::string& text);
absl::StatusOr<std::vector<std::string>> GatherTexts(Communicator& world,
                                                     const std::string& mine);

// Two numbers >= 0, compared as they stand.
struct Place {
  int64_t major = 0;
  int64_t minor = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
// The smallest place that any rank has found; nothing if none did.
absl::StatusOr<std::optional<Place>> FirstOverRanks(
    Communicator& world, const std::optional<Place>& mine);

}  // namespace lockstep

#endif  // PARALLEL_OVER_RANKS_H_
