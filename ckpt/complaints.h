// A list of complaints that becomes one status, so that a user sees all that is
// wrong with a checkpoint at once. Inside ckpt only.

#ifndef CKPT_COMPLAINTS_H_
#define CKPT_COMPLAINTS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace lockstep {

class Complaints {
 public:
  // What was said already, as of another box of a tensor, is not said again.
  void Add(std::string text) {
    if (said_.insert(text).second) list_.push_back(std::move(text));
  }

  // OK if there are none, else NoUsableCheckpoint with the first few.
  absl::Status Status(const std::string& what, const std::string& where,
                      const std::string& todo) const;

 private:
  std::vector<std::string> list_;
  std::set<std::string> said_;
};

}  // namespace lockstep

#endif  // CKPT_COMPLAINTS_H_
