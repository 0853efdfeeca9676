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

namespace lockstep {

absl::Status CheckLoaded(const StateRegistry& registry,
                         const CheckpointIndex& index, const std::string& dir,
                         LookedAt looked_at, SaveRanks ranks) {
  Complaints complaints;
  std::vector<TensorFingerprint>& loaded = looked_at.shared;
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
  for (std::string& insanity : looked_at.insanities) {
    complaints.Add(std::move(insanity));
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
