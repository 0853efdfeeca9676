// What a dataset says of itself: for a person, and for the manifest.

#include <cstdio>
#include <utility>

#include "data/dataset.h"

namespace lockstep {

std::string Dataset::DescribeDraws(uint64_t first, uint64_t last) const {
  const std::vector<uint64_t> before = blend_.Counts(first);
  const std::vector<uint64_t> after = blend_.Counts(last);
  std::string text = "samples " + std::to_string(first) + " to " +
                     std::to_string(last) + " come from";
  for (size_t s = 0; s < after.size(); ++s) {
    const auto count = static_cast<double>(sources_[s].train_samples());
    char epochs[32];
    std::snprintf(epochs, sizeof(epochs), "%.3f",
                  static_cast<double>(after[s]) / count);
    text += (s == 0 ? " " : "; ") + sources_[s].file().prefix() + ": " +
            (after[s] == before[s] ? "none"
                                   : std::to_string(after[s] - before[s])) +
            " (" + epochs + " epochs by then)";
  }
  return text;
}

std::vector<DataFileIdentity> Dataset::Identities() const {
  std::vector<DataFileIdentity> identities;
  for (const DataSource& source : sources_) {
    for (DataFileIdentity& file : source.file().Identities()) {
      identities.push_back(std::move(file));
    }
  }
  return identities;
}

}  // namespace lockstep
