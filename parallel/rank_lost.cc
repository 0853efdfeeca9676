#include "parallel/rank_lost.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/cord.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kPayload[] = "lockstep.lost_ranks";

std::string Joined(std::span<const int> ranks, const std::string& prefix) {
  std::string text;
  for (const int rank : ranks) {
    text += (text.empty() ? "" : ", ") + prefix + std::to_string(rank);
  }
  return text;
}

}  // namespace

absl::Status RanksLost(std::span<const int> world_ranks, std::string_view how,
                       std::string_view where) {
  std::vector<int> ranks(world_ranks.begin(), world_ranks.end());
  std::sort(ranks.begin(), ranks.end());
  const std::string who = ranks.empty() ? "a rank" : Joined(ranks, "rank ");
  absl::Status status = RankLost(who + " " + std::string(how), where,
                                 "look for the first error of " + who);
  status.SetPayload(kPayload, absl::Cord(Joined(ranks, "")));
  return status;
}

std::vector<int> LostRanksOf(const absl::Status& status) {
  std::vector<int> ranks;
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return ranks;
  const std::string text(*payload);
  for (size_t at = 0; at < text.size();) {
    int rank = 0;
    const auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error != std::errc()) return {};
    ranks.push_back(rank);
    at = static_cast<size_t>(end - text.data()) + 2;  // ", "
  }
  return ranks;
}

}  // namespace lockstep
