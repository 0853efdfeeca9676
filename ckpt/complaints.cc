#include "ckpt/complaints.h"

#include <algorithm>

#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kShown = 8;

}  // namespace

absl::Status Complaints::Status(const std::string& what,
                                const std::string& where,
                                const std::string& todo) const {
  if (list_.empty()) return absl::OkStatus();
  std::string text = what;
  for (size_t i = 0; i < std::min(list_.size(), kShown); ++i) {
    text += "\n    " + list_[i];
  }
  if (list_.size() > kShown) {
    text += "\n    and " + std::to_string(list_.size() - kShown) + " more";
  }
  return NoUsableCheckpoint(text, where, todo);
}

}  // namespace lockstep
