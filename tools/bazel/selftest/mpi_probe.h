// The version of the MPI library, to prove that it links.
//
// Not MPI_Init: that belongs to tests of the communicator. Behind a header of
// our own, as MPI always is.

#ifndef TOOLS_BAZEL_SELFTEST_MPI_PROBE_H_
#define TOOLS_BAZEL_SELFTEST_MPI_PROBE_H_

#include <string>

namespace lockstep::selftest {

std::string MpiLibraryVersion();

}  // namespace lockstep::selftest

#endif  // TOOLS_BAZEL_SELFTEST_MPI_PROBE_H_
