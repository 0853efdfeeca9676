// What LOCKSTEP_RESIZE says of a resume on another layout.
//
// What it is: a JSON object with `reason`, `waited_ms` and `idle`, which
// `launch` gives the job it starts, read. What it is not: a reason to resize:
// that happened. Why so: without it a person did, and the ledger says that.
#ifndef LOCKSTEP_TOOLS_RESIZE_NOTE_H_
#define LOCKSTEP_TOOLS_RESIZE_NOTE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ResizeNote {
  std::string reason = "the user's";
  int64_t waited_ms = 0;
  std::vector<std::string> idle = {};
};

// A text of another program's: what is not as expected is left out.
ResizeNote ReadResizeNote(std::string_view text);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RESIZE_NOTE_H_
