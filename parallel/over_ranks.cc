#include "parallel/over_ranks.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

// The least of what ranks bring, as the largest of its negatives.
absl::StatusOr<int64_t> Least(Communicator& world, int64_t value) {
  int64_t negative = -value;
  LS_RETURN_IF_ERROR(world.AllReduceMax(std::span(&negative, 1)));
  return -negative;
}

}  // namespace

absl::Status AgreeOverRanks(Communicator& world, const absl::Status& mine) {
  return world.size() == 1 ? mine : world.Agree(mine);
}

absl::Status AddOverRanks(Communicator& world, ExactSum& sum) {
  auto words = sum.Words();
  LS_RETURN_IF_ERROR(world.AllReduceSum(words));
  sum = ExactSum::FromWords(words);
  return absl::OkStatus();
}

absl::Status AddOverRanks(Communicator& world, std::span<int64_t> counts) {
  return world.AllReduceSum(counts);
}

absl::Status AddOverRanks(Communicator& world,
                          const std::vector<Fingerprint*>& fingerprints) {
  std::vector<int64_t> lanes;
  for (const Fingerprint* f : fingerprints) {
    for (const uint64_t lane : f->lane) {
      lanes.push_back(std::bit_cast<int64_t>(lane));
    }
  }
  LS_RETURN_IF_ERROR(world.AllReduceSum(lanes));
  auto lane = lanes.begin();
  for (Fingerprint* f : fingerprints) {
    for (uint64_t& to : f->lane) to = std::bit_cast<uint64_t>(*lane++);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorFingerprint>> WholeState(
    Communicator& world, const StateRegistry& registry, StateGroupSet groups,
    const KnownFingerprints& known) {
  auto state = StateTensorFingerprints(registry, groups & kSharedState, known);
  std::vector<Fingerprint*> sums;
  for (TensorFingerprint& tensor : state) sums.push_back(&tensor.value);
  LS_RETURN_IF_ERROR(AddOverRanks(world, sums));
  for (TensorFingerprint& tensor :
       StateTensorFingerprints(registry, groups & ~kSharedState)) {
    state.push_back(std::move(tensor));
  }
  return state;
}

absl::Status BroadcastText(Communicator& world, std::string& text) {
  auto size = static_cast<int64_t>(text.size());
  if (world.rank() != 0) size = 0;
  LS_RETURN_IF_ERROR(world.AllReduceMax(std::span(&size, 1)));
  text.resize(static_cast<size_t>(size));
  return world.Broadcast(std::as_writable_bytes(std::span(text)), 0);
}

absl::StatusOr<std::vector<std::string>> GatherTexts(Communicator& world,
                                                     const std::string& mine) {
  const auto ranks = static_cast<size_t>(world.size());
  const auto here = static_cast<size_t>(world.rank());
  std::vector<int64_t> sizes(ranks, 0);
  sizes[here] = static_cast<int64_t>(mine.size());
  LS_RETURN_IF_ERROR(world.AllReduceSum(sizes));
  std::string all;
  for (size_t r = 0; r < ranks; ++r) {
    all += r == here ? mine : std::string(static_cast<size_t>(sizes[r]), '\0');
  }
  LS_RETURN_IF_ERROR(
      world.AllGatherV(std::as_writable_bytes(std::span(all)), sizes));
  std::vector<std::string> texts;
  size_t begin = 0;
  for (const int64_t size : sizes) {
    texts.push_back(all.substr(begin, static_cast<size_t>(size)));
    begin += static_cast<size_t>(size);
  }
  return texts;
}

absl::StatusOr<std::optional<Place>> FirstOverRanks(
    Communicator& world, const std::optional<Place>& mine) {
  LS_ASSIGN_OR_RETURN(const int64_t major,
                      Least(world, mine ? mine->major : INT64_MAX));
  if (major == INT64_MAX) return std::optional<Place>();
  const bool here = mine && mine->major == major;
  LS_ASSIGN_OR_RETURN(const int64_t minor,
                      Least(world, here ? mine->minor : INT64_MAX));
  return std::optional<Place>({major, minor});
}

}  // namespace lockstep
