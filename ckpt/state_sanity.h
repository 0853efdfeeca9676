// What no trained state can hold, looked for part by part while something else
// reads the state. Inside ckpt only.
//
// Each number alone (FirstInsanityIn), and Adam's first moments beside their
// second ones, where it is known what those allow (moment_bound.h).

#ifndef CKPT_STATE_SANITY_H_
#define CKPT_STATE_SANITY_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/moment_bound.h"
#include "ckpt/state_entries.h"

namespace lockstep {

class StateSanity {
 public:
  // `entries` are sorted by name, and stay where they are.
  StateSanity(const std::vector<StateEntry>& entries,
              const std::optional<MomentBound>& bound);

  // At elements [begin, end) of the box of one of the entries; from any thread.
  void Look(const StateEntry& entry, int64_t begin, int64_t end);

  // Of a first moment, the second one that Look reads beside it; else null.
  const StateEntry* SquareOf(const StateEntry& entry) const {
    const auto square = squares_.find(&entry);
    return square == squares_.end() ? nullptr : square->second;
  }

  // Of each entry the first thing found, by name.
  std::vector<std::string> Found() const;

 private:
  std::string BeyondText(const StateEntry& m, int64_t at) const;
  static void KeepFirst(std::map<const StateEntry*, int64_t>& places,
                        const StateEntry& entry, int64_t at);

  const std::vector<StateEntry>& entries_;
  const std::optional<MomentBound> bound_;
  // Of a first moment's box, the second moment's.
  std::map<const StateEntry*, const StateEntry*> squares_;
  std::mutex mutex_;  // over what follows
  std::map<const StateEntry*, int64_t> insane_, beyond_;
};

}  // namespace lockstep

#endif  // CKPT_STATE_SANITY_H_
