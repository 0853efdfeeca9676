#include "tools/bench/checkpoint_cases.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/match.h"
#include "ckpt/background_saver.h"
#include "ckpt/load.h"
#include "ckpt/save.h"
#include "determinism/status.h"
#include "tools/bench/checkpoint_peer.h"
#include "tools/bench/in_turns.h"
#include "tools/bench/plain_copy.h"
#include "tools/bench/raw_device.h"

namespace lockstep {
namespace {

constexpr int kRounds = 3;

// Everything a case needs: a state that was trained for a step, and a folder.
class Rig {
 public:
  Rig(Stepper& stepper, std::string dir, const BenchOptions& options,
      CheckpointPeer* peer)
      : stepper_(stepper),
        dir_(std::move(dir)),
        rounds_(options.rounds > 0 ? static_cast<int>(options.rounds)
                                   : kRounds),
        peer_(peer) {}

  absl::StatusOr<std::vector<BenchCase>> Cases(const BenchOptions& options) {
    LS_RETURN_IF_ERROR(memory_.Reserve(CopyBytes(registry(), 0)));
    memory_.Touch();
    LS_RETURN_IF_ERROR(stepper_.Step().status());
    LS_RETURN_IF_ERROR(OpenPeer());
    std::vector<BenchCase> cases;
    const auto add = [&](const char* name, auto measure) -> absl::Status {
      if (!absl::StrContains(name, options.only)) return absl::OkStatus();
      absl::Status status;
      const PairedSeconds best = (this->*measure)(status);
      LS_RETURN_IF_ERROR(status);
      const double steps = measure == &Rig::Steps ? 1 : 0;
      const double work = steps > 0 ? steps : gigabytes();
      BenchCase one = {.name = name,
                       .threads = stepper_.device().threads().threads(),
                       .rate = work / best.first,
                       .unit = steps > 0 ? "steps/s" : "GB/s",
                       .probe = work / best.second};
      one.ratio = one.rate / one.probe;
      cases.push_back(one);
      if (peer_) peer_->AddTo(cases, work);
      return absl::OkStatus();
    };
    LS_RETURN_IF_ERROR(add("copy that steps wait for", &Rig::Stall));
    LS_RETURN_IF_ERROR(add("save in the background", &Rig::Save));
    LS_RETURN_IF_ERROR(add("load and verify", &Rig::Load));
    LS_RETURN_IF_ERROR(add("steps while it saves", &Rig::Steps));
    return cases;
  }

 private:
  // It reads the state as a save of ours has it.
  absl::Status OpenPeer() {
    if (peer_ == nullptr) return absl::OkStatus();
    LS_RETURN_IF_ERROR(SaveCheckpoint(fs_, Options(), registry()).status());
    LS_RETURN_IF_ERROR(peer_->Open());
    return fs_.RemoveTree(dir_ + "/checkpoints");
  }

  StateRegistry& registry() { return stepper_.registry(); }
  ThreadPool& pool() { return stepper_.device().threads(); }
  double gigabytes() {
    return static_cast<double>(CopyBytes(registry(), 0)) * 1e-9;
  }
  std::string Shard() const { return BenchShard(dir_); }
  SaveOptions Options() const {
    return {.run_dir = dir_,
            .step = 1,
            .run_id = "bench",
            .manifest_json = "{}\n",
            .ledger_head = std::string(64, '0')};
  }

  PairedSeconds Stall(absl::Status& status) {
    const Snapshot live = LookAtState(registry(), 0);
    auto copy = CopyState(registry(), 0, pool(), memory_);
    status.Update(copy.status());
    if (!status.ok()) return {};
    PairedSeconds best;
    for (int round = 0; round < rounds_; ++round) {
      const PairedSeconds now = InTurns(
          3,
          [&] {
            status.Update(CopyState(registry(), 0, pool(), memory_).status());
          },
          [&] { CopyPlainly(*copy, live, pool()); });
      best.first = std::min(best.first, now.first);
      best.second = std::min(best.second, now.second);
      if (peer_) peer_->Turn("stall", status);
    }
    return best;
  }

  PairedSeconds Save(absl::Status& status) {
    auto copy = CopyState(registry(), 0, pool(), memory_);
    status.Update(copy.status());
    if (!status.ok()) return {};
    PairedSeconds best;
    for (int round = 0; round < rounds_; ++round) {
      status.Update(fs_.RemoveTree(dir_ + "/checkpoints"));
      best.first = std::min(
          best.first, SecondsOf([&] {
            status.Update(SaveSnapshot(fs_, Options(), *copy).status());
          }));
      best.second =
          std::min(best.second, SecondsOf([&] {
                     status.Update(RawWrite(dir_ + "/raw", copy->image));
                   }));
      status.Update(fs_.Remove(dir_ + "/raw"));
      if (peer_) peer_->Turn("save", status);
    }
    return best;
  }

  // Of a device that nobody has read from yet.
  PairedSeconds Load(absl::Status& status) {
    status.Update(SaveCheckpoint(fs_, Options(), registry()).status());
    PairedSeconds best;
    for (int round = 0; round < rounds_ && status.ok(); ++round) {
      status.Update(DropCached(Shard()));
      best.first = std::min(
          best.first, SecondsOf([&] {
            status.Update(LoadCheckpoint(fs_, BaseDir(), registry()).status());
          }));
      status.Update(DropCached(Shard()));
      best.second = std::min(best.second, SecondsOf([&] {
                               status.Update(RawRead(Shard(), memory_.bytes()));
                             }));
      if (peer_) peer_->Turn("load", status);
    }
    return best;
  }
  std::string BaseDir() const { return dir_ + "/checkpoints/step_00000001"; }

  // The mean step of those that began while a save was under way, and of as
  // many others.
  PairedSeconds Steps(absl::Status& status) {
    BackgroundSaver saver;
    double with = 0, without = 0;
    int steps = 0;
    const auto step = [&] { status.Update(stepper_.Step().status()); };
    for (int round = 0; round < rounds_ && status.ok(); ++round) {
      std::atomic<bool> ended = false;
      status.Update(fs_.RemoveTree(dir_ + "/checkpoints"));
      status.Update(saver.Begin(registry(), 0, pool(), [&](Snapshot& copy) {
        const auto saved = SaveSnapshot(fs_, Options(), copy);
        ended = true;
        return saved.status();
      }));
      int now = 0;
      do {
        with += SecondsOf(step);
        ++now;
      } while (!ended && status.ok());
      status.Update(saver.Finish());
      for (int i = 0; i < now; ++i) without += SecondsOf(step);
      steps += now;
    }
    return {.first = with / steps, .second = without / steps};
  }

  FileSystem& fs_ = *PosixFileSystem();
  Stepper& stepper_;
  const std::string dir_;
  const int rounds_;
  CheckpointPeer* const peer_;  // null: none
  StagingMemory memory_;
};

}  // namespace

std::string BenchShard(const std::string& dir) {
  return dir + "/checkpoints/step_00000001/rank_00000.safetensors";
}

absl::StatusOr<std::vector<BenchCase>> CheckpointCases(
    Stepper& stepper, const std::string& dir, const BenchOptions& options,
    CheckpointPeer* peer) {
  return Rig(stepper, dir, options, peer).Cases(options);
}

}  // namespace lockstep
