#include "parallel/collective.h"

#include <numeric>

#include "determinism/check.h"

namespace lockstep {
namespace {

const char* NameOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return "barrier";
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kReduceScatter:
      return "reduce-scatter";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kBroadcast:
      return "broadcast";
  }
  return "unknown collective";
}

// FNV-1a over the parts: two calls that cut alike have equal hashes.
uint64_t HashOf(std::span<const int64_t> parts) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const int64_t part : parts) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash ^= static_cast<uint64_t>(part) >> shift & 0xffu;
      hash *= 0x100000001b3u;
    }
  }
  return hash;
}

}  // namespace

CollectiveShape ShapeOf(const Collective& call) {
  return {.kind = static_cast<uint32_t>(call.kind),
          .reduction = static_cast<uint32_t>(call.reduction),
          .root = call.root,
          .bytes = call.data.size(),
          .parts_hash = HashOf(call.part_bytes)};
}

std::string Describe(const CollectiveShape& shape) {
  const auto kind = static_cast<CollectiveKind>(shape.kind);
  const auto reduction = static_cast<Reduction>(shape.reduction);
  std::string text = NameOf(kind);
  if (reduction != Reduction::kNone) {
    text += std::string(" (") + NameOf(reduction) + ")";
  }
  if (kind == CollectiveKind::kBarrier) return text;
  text += " of " + std::to_string(shape.bytes) + " bytes";
  if (kind == CollectiveKind::kBroadcast) {
    text += " from " + std::to_string(shape.root);
  }
  return text;
}

absl::Status CheckSameCall(std::span<const CollectiveShape> shapes,
                           std::span<const int> world_ranks) {
  LS_CHECK_EQ(shapes.size(), world_ranks.size());
  const auto told = [&](size_t rank) {
    return "rank " + std::to_string(world_ranks[rank]) + ": " +
           Describe(shapes[rank]);
  };
  for (size_t rank = 1; rank < shapes.size(); ++rank) {
    if (shapes[rank] == shapes[0]) continue;
    const bool cut = shapes[rank].parts_hash != shapes[0].parts_hash &&
                     shapes[rank].bytes == shapes[0].bytes;
    return absl::InternalError(
        "ranks met in different collectives\n  where: " + told(0) + "; " +
        told(rank) + (cut ? " cut otherwise" : "") +
        "\n  do: report this, with the recipe");
  }
  return absl::OkStatus();
}

std::vector<size_t> PartBegins(const Collective& call) {
  std::vector<size_t> begins = {0};
  for (const int64_t bytes : call.part_bytes) {
    LS_CHECK_GE(bytes, 0);
    begins.push_back(begins.back() + static_cast<size_t>(bytes));
  }
  LS_CHECK_EQ(begins.back(), call.data.size());
  return begins;
}

}  // namespace lockstep
