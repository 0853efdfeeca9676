#include "determinism/check.h"

#include <cstdio>
#include <cstdlib>

namespace lockstep::check_internal {

Failure::Failure(const char* file, int line, const std::string& condition) {
  stream_ << file << ":" << line << ": " << condition << " failed: ";
}

Failure::~Failure() {
  const std::string message = stream_.str() + "\n";
  // One write, so that the messages of several ranks do not interleave.
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace lockstep::check_internal
