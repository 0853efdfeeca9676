#include "tools/bench/checkpoint_peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<CheckpointPeer> CheckpointPeer::Start(FileSystem& fs,
                                                     const std::string& command,
                                                     const std::string& dir,
                                                     const std::string& shard,
                                                     int threads) {
  const std::string folder = dir + "/peer", shape = dir + "/shape.json";
  LS_RETURN_IF_ERROR(fs.MakeDirs(folder));
  LS_RETURN_IF_ERROR(WriteFileAtomically(
      fs, shape, nlohmann::json{{"shard", shard}, {"folder", folder}}.dump()));
  LS_ASSIGN_OR_RETURN(auto peer, PeerStep::Start(command, shape, threads));
  return CheckpointPeer(std::move(peer));
}

void CheckpointPeer::Turn(const char* what, absl::Status& status) {
  if (!status.ok()) return;
  const auto seconds = peer_->Seconds(what);
  status.Update(seconds.status());
  if (!seconds.ok()) return;
  seconds_ = seconds_ == 0 ? *seconds : std::min(seconds_, *seconds);
}

void CheckpointPeer::AddTo(std::vector<BenchCase>& cases, double work) {
  if (seconds_ == 0) return;
  BenchCase& ours = cases.back();
  const BenchCase peer = {
      .name = absl::StrCat(ours.name, " of ", peer_->name()),
      .threads = ours.threads,
      .rate = work / seconds_,
      .unit = ours.unit};
  ours.peer = peer_->name();
  ours.peer_ratio = ours.rate / peer.rate;
  cases.push_back(peer);
  seconds_ = 0;
}

}  // namespace lockstep
