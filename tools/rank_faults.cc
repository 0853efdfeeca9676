#include "tools/rank_faults.h"

#include <algorithm>

namespace lockstep {

std::vector<std::string> RankFaults::Unmet() const {
  std::vector<std::string> unmet = steps_.Unfired();
  const std::vector<std::string> of_saves = saves_.Unfired();
  std::erase_if(unmet, [&](const std::string& text) {
    return std::find(of_saves.begin(), of_saves.end(), text) == of_saves.end();
  });
  return unmet;
}

}  // namespace lockstep
