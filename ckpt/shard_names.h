// What shards and the tensors in them are called. Inside ckpt only.

#ifndef CKPT_SHARD_NAMES_H_
#define CKPT_SHARD_NAMES_H_

#include <string>
#include <vector>

namespace lockstep {

// "rank_00003.safetensors".
std::string ShardName(int rank);

// A shard's names are distinct: of a tensor's boxes, which follow each other,
// those after the first are numbered.
std::vector<std::string> NamesInShard(const std::vector<std::string>& tensors);

}  // namespace lockstep

#endif  // CKPT_SHARD_NAMES_H_
