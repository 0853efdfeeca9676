// What this binary was built from, for manifests and bug reports.
//
// Not a version number and not a promise: two binaries with one commit can
// still differ by compiler, which is why the manifest also holds the SHA-256 of
// the binary itself. The values come from Bazel's workspace status, so that
// only this library, and not every file, is rebuilt on a new commit.

#ifndef TOOLS_BAZEL_BUILD_STAMP_H_
#define TOOLS_BAZEL_BUILD_STAMP_H_

namespace lockstep {

// 40 hex digits, or "unstamped" for a build outside a git repository.
const char* BuildCommit();

// Whether tracked files differed from the commit. An unstamped build is dirty:
// nobody can say what it was made of.
bool BuildDirty();

bool BuildStamped();

// Compiler, compilation mode and the flags that can change bits, in one line.
const char* BuildCompiler();

}  // namespace lockstep

#endif  // TOOLS_BAZEL_BUILD_STAMP_H_
