#include "ckpt/shard_names.h"

#include <algorithm>
#include <map>

namespace lockstep {

std::string ShardName(int rank) {
  const std::string digits = std::to_string(rank);
  return "rank_" + std::string(5 - std::min<size_t>(digits.size(), 5), '0') +
         digits + ".safetensors";
}

std::vector<std::string> NamesInShard(const std::vector<std::string>& tensors) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const std::string& tensor : tensors) {
    const int number = seen[tensor]++;
    names.push_back(number == 0 ? tensor
                                : tensor + "#" + std::to_string(number));
  }
  return names;
}

}  // namespace lockstep
