#include "parallel/split.h"

#include <algorithm>
#include <cstdint>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<SplitGroup> AgreeOnSplit(Communicator& parent, int color,
                                        int key) {
  LS_CHECK_GE(color, 0);
  const int32_t mine[] = {color, key};
  std::vector<int32_t> all(2 * static_cast<size_t>(parent.size()));
  LS_RETURN_IF_ERROR(parent.AllGather(std::as_bytes(std::span(mine)),
                                      std::as_writable_bytes(std::span(all))));
  SplitGroup group;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (all[2 * static_cast<size_t>(rank)] == color) {
      group.members.push_back(rank);
    }
  }
  std::stable_sort(group.members.begin(), group.members.end(),
                   [&](int a, int b) {
                     return all[2 * static_cast<size_t>(a) + 1] <
                            all[2 * static_cast<size_t>(b) + 1];
                   });
  for (size_t place = 0; place < group.members.size(); ++place) {
    const int member = group.members[place];
    if (member == parent.rank()) group.rank = static_cast<int>(place);
    group.world_ranks.push_back(parent.WorldRank(member));
  }
  return group;
}

}  // namespace lockstep
