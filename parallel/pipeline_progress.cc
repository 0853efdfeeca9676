// Whether all ranks come to the end of their lists when channels are short.

#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "parallel/pipeline_check.h"

namespace lockstep {
namespace {

using Channel = std::tuple<int, int, int>;  // sender, receiver, tag

// A rank between two computations: what it still has to send and to receive.
struct Standing {
  size_t next = 0;  // action to compute once both are done
  std::optional<Channel> sends, receives;
};

class Simulation {
 public:
  Simulation(const PipelineShape& shape, const PipelineLists& lists,
             int64_t buffer)
      : shape_(shape),
        lists_(lists),
        buffer_(static_cast<size_t>(buffer)),
        ranks_(lists.size()) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) AskForInput(rank);
  }

  absl::Status Run() {
    for (bool moved = true; moved && wrong_.ok();) {
      moved = false;
      for (size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (wrong_.ok() && Advance(rank)) moved = true;
      }
    }
    if (!wrong_.ok()) return wrong_;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!Ended(rank)) return Stuck();
    }
    return absl::OkStatus();
  }

 private:
  bool Ended(size_t rank) const {
    return ranks_[rank].next == lists_[rank].size() && !ranks_[rank].sends;
  }

  // A neighbour that is the rank itself (one rank, several chunks) gets the
  // tensor by hand.
  std::optional<Channel> ChannelOf(size_t rank, const PipelineAction& action,
                                   bool input) const {
    const int me = static_cast<int>(rank);
    const auto peer = input ? PipelineInput(shape_, me, action)
                            : PipelineOutput(shape_, me, action);
    if (!peer || peer->rank == me) return std::nullopt;
    return input ? Channel{peer->rank, me, peer->tag}
                 : Channel{me, peer->rank, peer->tag};
  }

  void AskForInput(size_t rank) {
    Standing& standing = ranks_[rank];
    if (standing.next == lists_[rank].size()) return;
    standing.receives = ChannelOf(rank, lists_[rank][standing.next], true);
  }

  bool Advance(size_t rank) {
    Standing& standing = ranks_[rank];
    if (standing.receives && Receive(rank)) return true;
    if (standing.sends && queued_[*standing.sends].size() < buffer_) {
      queued_[*standing.sends].push_back(Sent(rank));
      standing.sends.reset();
      return true;
    }
    if (standing.sends || standing.receives || Ended(rank)) return false;
    standing.sends = ChannelOf(rank, lists_[rank][standing.next], false);
    ++standing.next;
    AskForInput(rank);
    return true;
  }

  // What `rank`'s outstanding send carries.
  int64_t Sent(size_t rank) const {
    return lists_[rank][ranks_[rank].next - 1].micro_batch;
  }

  bool Receive(size_t rank) {
    const Channel channel = *ranks_[rank].receives;
    const auto from = static_cast<size_t>(std::get<0>(channel));
    std::deque<int64_t>& queue = queued_[channel];
    int64_t got = 0;
    if (!queue.empty()) {
      got = queue.front();
      queue.pop_front();
    } else if (ranks_[from].sends == channel) {
      got = Sent(from);
      ranks_[from].sends.reset();
    } else {
      return false;
    }
    const int64_t due = lists_[rank][ranks_[rank].next].micro_batch;
    if (got != due) {
      wrong_ = absl::InternalError("pipeline schedule: rank " +
                                   std::to_string(rank) + " gets micro-batch " +
                                   std::to_string(got) + " where " +
                                   std::to_string(due) + " is due");
    }
    ranks_[rank].receives.reset();
    return true;
  }

  absl::Status Stuck() const {
    std::string text = "pipeline schedule deadlocks:";
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (Ended(rank)) continue;
      text += " rank " + std::to_string(rank);
      if (ranks_[rank].sends) {
        text += " sends to " + std::to_string(std::get<1>(*ranks_[rank].sends));
      }
      if (ranks_[rank].receives) {
        text +=
            " waits for " + std::to_string(std::get<0>(*ranks_[rank].receives));
      }
      text += ";";
    }
    return absl::InternalError(text);
  }

  const PipelineShape shape_;
  const PipelineLists& lists_;
  const size_t buffer_;
  std::vector<Standing> ranks_;
  std::map<Channel, std::deque<int64_t>> queued_;
  absl::Status wrong_;
};

}  // namespace

absl::Status CheckPipelineProgress(const PipelineShape& shape,
                                   const PipelineLists& lists, int64_t buffer) {
  return Simulation(shape, lists, buffer).Run();
}

}  // namespace lockstep
