#include "tools/bench/plain_copy.h"

#include <algorithm>
#include <cstring>

namespace lockstep {

void CopyPlainly(const Snapshot& to, const Snapshot& from, ThreadPool& pool) {
  int64_t bytes = 0;
  for (const StateEntry& entry : from.entries) {
    bytes += static_cast<int64_t>(entry.size_bytes());
  }
  pool.ParallelFor(bytes, [&](int64_t begin, int64_t end) {
    int64_t at = 0;
    for (size_t i = 0; i < from.entries.size(); ++i) {
      const auto size = static_cast<int64_t>(from.entries[i].size_bytes());
      const int64_t first = std::max(begin, at),
                    last = std::min(end, at + size);
      if (first < last) {
        std::memcpy(
            static_cast<char*>(to.entries[i].data) + (first - at),
            static_cast<const char*>(from.entries[i].data) + (first - at),
            static_cast<size_t>(last - first));
      }
      at += size;
    }
  });
}

}  // namespace lockstep
