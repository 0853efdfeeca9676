#include "tools/rank_lead.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/restore.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

Communicator& WorldOf(const Stepper& stepper) {
  return *stepper.layout().world;
}

absl::Status InitialiseHere(Stepper& stepper) {
  const ScopedFloatEnv float_env;
  return stepper.Initialise();
}

absl::StatusOr<CheckpointIndex> LoadHere(FileSystem& fs, Stepper& stepper,
                                         const std::string& dir,
                                         std::vector<std::string>* notes) {
  return RestoreStepper(fs, stepper, dir, &WorldOf(stepper), notes);
}

absl::StatusOr<StateByGroup> GroupsHere(Stepper& stepper) {
  return FingerprintByGroup(WorldOf(stepper), stepper.registry());
}

absl::Status TakeSkips(const std::string& text, Stepper& stepper) {
  std::vector<SkipRange> ranges;
  for (const Json& range : Json::parse(text)) {
    ranges.push_back(
        {.first = range[0], .last = range[1], .adopted_at = range[2]});
  }
  return stepper.PlanSkips(std::move(ranges));
}

// One thing that the first rank said.
absl::Status Do(const std::string& what, const std::string& text,
                FileSystem& fs, Stepper& stepper) {
  if (what == "initialise") return InitialiseHere(stepper);
  if (what == "load") return LoadHere(fs, stepper, text, nullptr).status();
  if (what == "state") return stepper.StateField().status();
  if (what == "groups") return GroupsHere(stepper).status();
  if (what == "save") return JoinSave(fs, WorldOf(stepper), stepper.registry());
  if (what == "skips") return TakeSkips(text, stepper);
  LS_CHECK(what == "seed") << what;
  stepper.TakeSeed();
  return absl::OkStatus();
}

}  // namespace

absl::Status RankLead::Say(const std::string& what, const std::string& text) {
  if (WorldOf(stepper_).size() == 1) return absl::OkStatus();
  std::string said = Json{what, text}.dump();
  return BroadcastText(WorldOf(stepper_), said);
}

absl::Status RankLead::Initialise() {
  LS_RETURN_IF_ERROR(Say("initialise"));
  return InitialiseHere(stepper_);
}

absl::StatusOr<CheckpointIndex> RankLead::Load(
    const std::string& dir, std::vector<std::string>& notes) {
  LS_RETURN_IF_ERROR(Say("load", dir));
  return LoadHere(fs_, stepper_, dir, &notes);
}

absl::Status RankLead::TakeSeed() {
  stepper_.TakeSeed();
  return Say("seed");
}

absl::StatusOr<std::string> RankLead::StateField() {
  LS_RETURN_IF_ERROR(Say("state"));
  return stepper_.StateField();
}

absl::StatusOr<StateByGroup> RankLead::StateOfGroups() {
  LS_RETURN_IF_ERROR(Say("groups"));
  return GroupsHere(stepper_);
}

absl::StatusOr<SavedCheckpoint> RankLead::Save(SaveOptions options) {
  LS_RETURN_IF_ERROR(Say("save"));
  options.world = &WorldOf(stepper_);
  return SaveCheckpoint(fs_, options, stepper_.registry());
}

absl::Status RankLead::ShareSkips() {
  if (WorldOf(stepper_).size() == 1) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const auto ranges, stepper_.AllSkips());
  Json json = Json::array();
  for (const SkipRange& range : ranges) {
    json.push_back({range.first, range.last, range.adopted_at});
  }
  return Say("skips", json.dump());
}

absl::Status RankLead::End(const absl::Status& mine) {
  if (WorldOf(stepper_).size() == 1) return mine;
  LS_RETURN_IF_ERROR(Say("end"));
  const absl::Status all = WorldOf(stepper_).Agree(mine);
  return mine.ok() ? all : mine;
}

// Ranks fail together in what they do together; what the first rank alone can
// fail at, it says at the end.
absl::Status FollowLead(FileSystem& fs, Stepper& stepper) {
  absl::Status mine;
  while (true) {
    std::string said;
    LS_RETURN_IF_ERROR(BroadcastText(WorldOf(stepper), said));
    const Json json = Json::parse(said);
    if (json[0] == "end") return WorldOf(stepper).Agree(mine);
    const absl::Status done = Do(json[0], json[1], fs, stepper);
    if (absl::IsUnavailable(done)) return done;
    // A load that failed is followed by another, of an older checkpoint.
    if (mine.ok() || json[0] == "load") mine = done;
  }
}

}  // namespace lockstep
