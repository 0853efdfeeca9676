// The test's state, cut as layouts cut a model's.

#ifndef CKPT_RESHARD_FOR_TEST_H_
#define CKPT_RESHARD_FOR_TEST_H_

#include <string>
#include <vector>

#include "ckpt/reshard.h"

namespace lockstep {

// By rows on the first two ranks, by columns between the second and a third one
// that has nothing of the rest; `b.bias` is the third's.
inline std::vector<std::vector<RankBox>> ThreeRanks() {
  std::vector<std::vector<RankBox>> ranks(3);
  for (const char* name : {"model/a.weight", "model/a.weight.exp_avg",
                           "model/a.weight.exp_avg_sq"}) {
    ranks[0].push_back({name, {{0, 0}, {1, 5}}});
    ranks[1].push_back({name, {{1, 0}, {1, 5}}});
    ranks[1].push_back({name, {{2, 0}, {1, 2}}});
    ranks[2].push_back({name, {{2, 2}, {1, 3}}});
  }
  ranks[2].push_back({"model/b.bias", {{0}, {4}}});
  return ranks;
}

}  // namespace lockstep

#endif  // CKPT_RESHARD_FOR_TEST_H_
