#include "ckpt/load_check.h"

#include <map>
#include <utility>
#include <vector>

#include "ckpt/complaints.h"
#include "ckpt/load.h"
#include "ckpt/load_match.h"
#include "ckpt/snapshot.h"
#include "ckpt/state_entries.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "parallel/thread_pool.h"

namespace lockstep {
namespace {

// Nothing else is to do while the state is looked through.
constexpr int kThreads = 2;

}  // namespace

absl::Status CheckLoaded(const StateRegistry& registry,
                         const CheckpointIndex& index, const std::string& dir,
                         SaveRanks ranks) {
  Complaints complaints;
  ThreadPool pool(kThreads);
  auto loaded = SharedFingerprints(registry, kSavedState, pool);
  LS_RETURN_IF_ERROR(ranks.Add(loaded));
  for (TensorFingerprint& tensor :
       StateTensorFingerprints(registry, kSavedState & ~kSharedState)) {
    loaded.push_back(std::move(tensor));
  }
  bool all = loaded.size() == index.tensors.size();
  for (const TensorFingerprint& t : loaded) {
    const IndexTensor* tensor = FindTensor(index, t.name);
    all = all && tensor != nullptr;
    if (tensor != nullptr && tensor->fingerprint != t.value.Hex()) {
      complaints.Add(t.name + " has fingerprint " + t.value.Hex() + ", saved " +
                     tensor->fingerprint);
    }
  }
  if (all && FieldFingerprint(loaded) != index.state_fingerprint) {
    complaints.Add("the state as a whole is not the one that was saved");
  }
  // The list was made before bytes found their length.
  const auto entries = CollectState(registry, kSavedState);
  std::vector<std::string> insanities(entries.size());
  pool.ParallelFor(static_cast<int64_t>(entries.size()),
                   [&](int64_t begin, int64_t end) {
                     for (auto i = static_cast<size_t>(begin);
                          i < static_cast<size_t>(end); ++i) {
                       insanities[i] = InsanityIn(entries[i]);
                     }
                   });
  for (std::string& insanity : insanities) {
    if (!insanity.empty()) complaints.Add(std::move(insanity));
  }
  return ranks.Agree(
      complaints.Status("the loaded state is not what was saved:", dir,
                        "use another checkpoint, and check the memory of "
                        "the machine that saved it"));
}

absl::Status CheckRuntimeFingerprint(const StateRegistry& registry,
                                     const CheckpointIndex& index,
                                     Communicator* world) {
  LS_ASSIGN_OR_RETURN(
      const std::vector<TensorFingerprint> now,
      SaveRanks(world).Whole(registry, SetOf(StateGroup::kRuntime)));
  if (FieldFingerprint(now) == index.runtime_fingerprint) {
    return absl::OkStatus();
  }
  std::map<std::string, std::string> saved;
  for (const IndexRuntime& t : index.runtime) saved[t.name] = t.fingerprint;
  Complaints complaints;
  for (const TensorFingerprint& t : now) {
    const std::string was = saved.contains(t.name) ? saved[t.name] : "nothing";
    if (was != t.value.Hex()) {
      complaints.Add(t.name + " has fingerprint " + t.value.Hex() + ", saved " +
                     was);
    }
    saved.erase(t.name);
  }
  for (const auto& [name, fingerprint] : saved) {
    complaints.Add(name + " was saved and is not in this program");
  }
  complaints.Add("all together: saved " + index.runtime_fingerprint + ", now " +
                 FieldFingerprint(now));
  return complaints.Status(
      "the runtime weights made from the masters are not those of the run "
      "(N10):",
      "step " + std::to_string(index.step),
      "use the build and the precision that the checkpoint was saved with");
}

}  // namespace lockstep
