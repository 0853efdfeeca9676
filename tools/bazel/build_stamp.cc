#include "tools/bazel/build_stamp.h"

#include <cstring>

#include "tools/bazel/build_stamp_values.h"

#ifdef __clang__
#define LOCKSTEP_BUILD_CC "clang " __clang_version__
#else
#define LOCKSTEP_BUILD_CC "g++ " __VERSION__
#endif

#ifdef __SANITIZE_ADDRESS__
#define LOCKSTEP_BUILD_ASAN " -fsanitize=address"
#else
#define LOCKSTEP_BUILD_ASAN ""
#endif

#ifdef __SANITIZE_THREAD__
#define LOCKSTEP_BUILD_TSAN " -fsanitize=thread"
#else
#define LOCKSTEP_BUILD_TSAN ""
#endif

namespace lockstep {

const char* BuildCommit() { return LOCKSTEP_BUILD_COMMIT; }

bool BuildDirty() { return LOCKSTEP_BUILD_DIRTY != 0; }

bool BuildStamped() { return std::strcmp(BuildCommit(), "unstamped") != 0; }

const char* BuildCompiler() {
  return LOCKSTEP_BUILD_CC
      " -c " LOCKSTEP_BUILD_MODE
      " " LOCKSTEP_BUILD_FLAGS LOCKSTEP_BUILD_ASAN LOCKSTEP_BUILD_TSAN;
}

}  // namespace lockstep
