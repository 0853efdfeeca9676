#include "model/owned_fingerprint.h"

#include <algorithm>

#include "determinism/fingerprint_pieces.h"

namespace lockstep {

void OwnedFingerprint::Add(std::span<const void* const> data, size_t item_bytes,
                           int64_t begin, int64_t end,
                           std::span<Fingerprint> sums) const {
  std::vector<const void*> at(data.size());
  auto run = std::upper_bound(
      runs_.begin(), runs_.end(), begin,
      [](int64_t element, const ParameterRun& r) { return element < r.owned; });
  if (run != runs_.begin()) --run;
  for (; run != runs_.end() && run->owned < end; ++run) {
    const int64_t first = std::max(begin, run->owned);
    const int64_t last = std::min(end, run->owned + run->count);
    if (first >= last) continue;
    for (size_t t = 0; t < data.size(); ++t) {
      at[t] = static_cast<const char*>(data[t]) +
              static_cast<size_t>(first) * item_bytes;
    }
    const auto element =
        static_cast<uint64_t>(run->logical + first - run->owned);
    AddFingerprints(at, static_cast<size_t>(last - first) * item_bytes,
                    element * item_bytes, sums);
  }
}

}  // namespace lockstep
