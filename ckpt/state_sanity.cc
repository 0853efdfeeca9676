#include "ckpt/state_sanity.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

constexpr char kFirst[] = ".exp_avg", kSecond[] = ".exp_avg_sq";

bool IsMoment(const StateEntry& entry, const char* suffix) {
  return entry.group == StateGroup::kMoment && entry.dtype == DType::kF32 &&
         absl::EndsWith(entry.name, suffix);
}

const float* Floats(const StateEntry& entry) {
  return static_cast<const float*>(entry.data);
}

}  // namespace

StateSanity::StateSanity(const std::vector<StateEntry>& entries,
                         const std::optional<MomentBound>& bound)
    : entries_(entries), bound_(bound) {
  if (!bound_) return;
  using Place = std::pair<std::string, std::vector<int64_t>>;
  std::map<Place, const StateEntry*> seconds;
  for (const StateEntry& entry : entries_) {
    if (IsMoment(entry, kSecond)) {
      seconds[{entry.name, entry.box_start}] = &entry;
    }
  }
  for (const StateEntry& entry : entries_) {
    if (!IsMoment(entry, kFirst)) continue;
    const auto second = seconds.find({entry.name + "_sq", entry.box_start});
    if (second == seconds.end()) continue;
    if (second->second->box_shape != entry.box_shape) continue;
    squares_[&entry] = second->second;
  }
}

void StateSanity::KeepFirst(std::map<const StateEntry*, int64_t>& places,
                            const StateEntry& entry, int64_t at) {
  const auto [place, first] = places.try_emplace(&entry, at);
  if (!first) place->second = std::min(place->second, at);
}

void StateSanity::Look(const StateEntry& entry, int64_t begin, int64_t end) {
  const int64_t insane = FirstInsanityIn(entry, begin, end);
  const StateEntry* const square = SquareOf(entry);
  const int64_t beyond =
      square == nullptr
          ? -1
          : bound_->FirstBeyond(Floats(entry), Floats(*square), begin, end);
  if (insane < 0 && beyond < 0) return;
  const std::lock_guard lock(mutex_);
  if (insane >= 0) KeepFirst(insane_, entry, insane);
  if (beyond >= 0) KeepFirst(beyond_, entry, beyond);
}

std::vector<std::string> StateSanity::Found() const {
  std::vector<std::string> found;
  for (const StateEntry& entry : entries_) {
    if (const auto at = insane_.find(&entry); at != insane_.end()) {
      found.push_back(InsanityText(entry, at->second));
    } else if (const auto m = beyond_.find(&entry); m != beyond_.end()) {
      found.push_back(BeyondText(entry, m->second));
    }
  }
  return found;
}

std::string StateSanity::BeyondText(const StateEntry& m, int64_t at) const {
  const float v = Floats(*squares_.at(&m))[at];
  return absl::StrFormat(
      "element %d of %s is %.9g, and its second moment %.9g allows at most "
      "%.9g with the betas it was made with",
      at, m.name, Floats(m)[at], v, bound_->Most(v));
}

}  // namespace lockstep
