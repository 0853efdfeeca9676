// What happened, of an error that is told inside another text: its place and
// what to do (status.h) stand on lines of their own.
#ifndef DETERMINISM_FIRST_LINE_H_
#define DETERMINISM_FIRST_LINE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace lockstep {

inline std::string FirstLine(absl::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

inline std::string FirstLine(const absl::Status& status) {
  return FirstLine(status.message());
}

}  // namespace lockstep

#endif  // DETERMINISM_FIRST_LINE_H_
