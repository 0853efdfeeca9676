#include "ckpt/snapshot.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "ckpt/safetensors_header.h"
#include "ckpt/shard_names.h"
#include "ckpt/state_copy.h"
#include "ckpt/state_sanity.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

constexpr StateGroupSet kRuntime = SetOf(StateGroup::kRuntime);
constexpr StateGroupSet kSharedSaved = kSharedState & kSavedState;

// Every rank names every entry, so each knows all tensors.
std::vector<IndexTensor> DescribeTensors(const StateRegistry& registry) {
  std::vector<IndexTensor> tensors;
  for (const StateEntry& entry : CollectState(registry, kSavedState)) {
    if (!tensors.empty() && tensors.back().name == entry.name) continue;
    tensors.push_back({entry.name,
                       entry.group,
                       entry.kind,
                       entry.dtype,
                       entry.shape,
                       "",
                       {}});
  }
  return tensors;
}

// One a name, of nothing so far.
std::vector<TensorFingerprint> RecordsOf(
    const std::vector<StateEntry>& entries) {
  std::vector<TensorFingerprint> records;
  for (const StateEntry& entry : entries) {
    if (!records.empty() && records.back().name == entry.name) continue;
    records.push_back({entry.name, entry.dtype, entry.shape, {}});
  }
  return records;
}

// Puts the boxes of `entries` that count into `copy`, each to where `place`
// says; the fingerprints come into the result, in the order of names.
template <typename PlaceOf>
std::vector<TensorFingerprint> AddAll(const std::vector<StateEntry>& entries,
                                      StateCopy& copy, const PlaceOf& place) {
  std::vector<TensorFingerprint> records = RecordsOf(entries);
  size_t record = 0;
  for (const StateEntry& entry : entries) {
    while (records[record].name != entry.name) ++record;
    if (entry.replica || entry.size_bytes() == 0) continue;
    copy.Add(entry, place(entry), &records[record].value);
  }
  return records;
}

// Where the bytes of each entry to save lie in the data of the shard.
struct ShardPlan {
  std::vector<uint64_t> offsets;  // as the entries
  uint64_t bytes = 0;
};

ShardPlan PlanShard(const std::vector<StateEntry>& entries) {
  ShardPlan plan;
  std::map<std::string, uint64_t> places;
  const std::vector<SafetensorsSpec> specs = ShardSpecs(entries);
  for (const SafetensorsEntry& place : LayOutSafetensors(specs)) {
    places[place.name] = place.offset_bytes;
    plan.bytes = place.offset_bytes + place.size_bytes;
  }
  for (const SafetensorsSpec& spec : specs) {
    plan.offsets.push_back(places.at(spec.name));
  }
  return plan;
}

}  // namespace

std::vector<SafetensorsSpec> ShardSpecs(
    const std::vector<StateEntry>& entries) {
  std::vector<std::string> names;
  for (const StateEntry& entry : entries) names.push_back(entry.name);
  names = NamesInShard(names);
  std::vector<SafetensorsSpec> specs;
  for (size_t i = 0; i < entries.size(); ++i) {
    specs.push_back(
        {std::move(names[i]), entries[i].dtype, entries[i].box_shape});
  }
  return specs;
}

std::vector<TensorFingerprint> ArrivingFingerprints(
    const StateRegistry& registry, ThreadPool& pool,
    const std::optional<MomentBound>& bound, Arrivals& arrivals,
    std::vector<std::string>& insanities) {
  StateCopy copy;
  const std::vector<StateEntry> entries = CollectState(registry, kSharedSaved);
  auto records = AddAll(
      entries, copy, [](const StateEntry&) -> std::byte* { return nullptr; });
  StateSanity sanity(entries, bound);
  copy.RunAsTheyCome(
      pool,
      [&](const StateEntry& entry, int64_t begin, int64_t end) {
        sanity.Look(entry, begin, end);
      },
      [&](const StateEntry& entry) {
        const StateEntry* const square = sanity.SquareOf(entry);
        return arrivals.Await(entry.data) &&
               (square == nullptr || arrivals.Await(square->data));
      });
  for (std::string& text : sanity.Found()) {
    insanities.push_back(std::move(text));
  }
  return records;
}

size_t CopyBytes(const StateRegistry& registry, int rank) {
  return PlanShard(EntriesToSave(registry, rank)).bytes;
}

Snapshot LookAtState(const StateRegistry& registry, int rank) {
  return {
      .entries = EntriesToSave(registry, rank),
      .tensors = DescribeTensors(registry),
      .shared = StateTensorFingerprints(registry, kSharedSaved),
      .runtime = StateTensorFingerprints(registry, kRuntime),
      .common = StateTensorFingerprints(registry, kSavedState & ~kSharedState),
      .image = {}};
}

absl::StatusOr<Snapshot> CopyState(const StateRegistry& registry, int rank,
                                   ThreadPool& pool, StagingMemory& memory) {
  Snapshot snapshot = {.entries = EntriesToSave(registry, rank),
                       .tensors = DescribeTensors(registry),
                       .shared = {},
                       .runtime = {},
                       .common = {},
                       .image = {}};
  const ShardPlan plan = PlanShard(snapshot.entries);
  LS_RETURN_IF_ERROR(memory.Reserve(plan.bytes));
  std::map<const void*, std::byte*> places;
  for (size_t i = 0; i < snapshot.entries.size(); ++i) {
    StateEntry& entry = snapshot.entries[i];
    std::byte* const to = memory.bytes().data() + plan.offsets[i];
    if ((SetOf(entry.group) & kSharedState) != 0) {
      places[entry.data] = to;
    } else if (entry.size_bytes() > 0) {
      std::memcpy(to, entry.data, entry.size_bytes());
    }
    entry.data = to;
    entry.bytes = nullptr;
  }
  StateCopy copy;
  const auto shared = CollectState(registry, kSharedSaved);
  snapshot.shared = AddAll(
      shared, copy, [&](const StateEntry& e) { return places.at(e.data); });
  const auto runtime = CollectState(registry, kRuntime);
  snapshot.runtime = AddAll(
      runtime, copy, [](const StateEntry&) -> std::byte* { return nullptr; });
  snapshot.common =
      StateTensorFingerprints(registry, kSavedState & ~kSharedState);
  copy.Run(pool);
  snapshot.image = memory.bytes().first(plan.bytes);
  return snapshot;
}

}  // namespace lockstep
