// What all ranks make of what happened to each.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "determinism/status.h"
#include "parallel/communicator.h"

namespace lockstep {
namespace {

// What a rank tells the others of its error.
struct Told {
  int64_t code = 0;
  int64_t size = 0;
  uint64_t hash = 0;
  friend bool operator==(const Told&, const Told&) = default;
};

// FNV-1a: the same in every process.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

constexpr char kAgreed[] = "lockstep/agreed";

absl::Status Agreed(absl::StatusCode code, const std::string& text) {
  absl::Status status(code, text);
  status.SetPayload(kAgreed, absl::Cord());
  return status;
}

}  // namespace

absl::Status Communicator::Agree(const absl::Status& mine) {
  const std::string text(mine.message());
  const Told own = {mine.raw_code(), static_cast<int64_t>(text.size()),
                    HashOf(text)};
  std::vector<Told> all(static_cast<size_t>(size()));
  LS_RETURN_IF_ERROR(AllGather(std::as_bytes(std::span(&own, 1)),
                               std::as_writable_bytes(std::span(all))));
  if (own.code != 0 && std::count(all.begin(), all.end(), own) == size()) {
    return Agreed(static_cast<absl::StatusCode>(own.code), text);
  }
  for (int rank = 0; rank < size(); ++rank) {
    const Told& one = all[static_cast<size_t>(rank)];
    if (one.code == 0) continue;
    std::string told(static_cast<size_t>(one.size), ' ');
    if (rank == this->rank()) told = text;
    LS_RETURN_IF_ERROR(
        Broadcast(std::as_writable_bytes(std::span(told)), rank));
    return Agreed(static_cast<absl::StatusCode>(one.code),
                  "rank " + std::to_string(WorldRank(rank)) + ": " + told);
  }
  return absl::OkStatus();
}

bool IsAgreed(const absl::Status& status) {
  return status.GetPayload(kAgreed).has_value();
}

}  // namespace lockstep
