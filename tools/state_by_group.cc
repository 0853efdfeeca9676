#include "tools/state_by_group.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "determinism/check.h"
#include "determinism/fingerprint.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

constexpr size_t kLaneDigits = 16;

// Of an index that was read, whose digits are checked.
Fingerprint FromHex(std::string_view hex) {
  Fingerprint value;
  LS_CHECK_EQ(hex.size(), 2 * kLaneDigits);
  for (size_t i = 0; i < 2; ++i) {
    const std::string_view lane = hex.substr(i * kLaneDigits, kLaneDigits);
    LS_CHECK(absl::SimpleHexAtoi(absl::string_view(lane.data(), lane.size()),
                                 &value.lane[i]))
        << hex;
  }
  return value;
}

}  // namespace

absl::StatusOr<StateByGroup> FingerprintByGroup(Communicator& world,
                                                const StateRegistry& registry) {
  StateByGroup result;
  std::vector<TensorFingerprint> saved;
  for (int i = 0; i < kStateGroupCount; ++i) {
    const auto group = static_cast<StateGroup>(i);
    LS_ASSIGN_OR_RETURN(const std::vector<TensorFingerprint> tensors,
                        WholeState(world, registry, SetOf(group)));
    if (tensors.empty()) continue;
    result.groups[NameOf(group)] = FieldFingerprint(tensors);
    if ((SetOf(group) & kSavedState) == 0) continue;
    saved.insert(saved.end(), tensors.begin(), tensors.end());
  }
  result.state = FieldFingerprint(std::move(saved));
  return result;
}

StateByGroup SavedByGroup(const CheckpointIndex& index) {
  std::map<std::string, std::vector<TensorFingerprint>> by_group;
  for (const IndexTensor& t : index.tensors) {
    by_group[NameOf(t.group)].push_back(
        {t.name, t.dtype, t.shape, FromHex(t.fingerprint)});
  }
  StateByGroup result = {.state = index.state_fingerprint};
  for (auto& [group, tensors] : by_group) {
    result.groups[group] = FieldFingerprint(std::move(tensors));
  }
  result.groups[NameOf(StateGroup::kRuntime)] = index.runtime_fingerprint;
  return result;
}

void AddFingerprints(const CheckpointIndex& saved, const StateByGroup& restored,
                     LedgerFields& fields) {
  fields.emplace_back("fingerprints_saved", SavedByGroup(saved).groups);
  fields.emplace_back("fingerprints_restored", restored.groups);
}

}  // namespace lockstep
