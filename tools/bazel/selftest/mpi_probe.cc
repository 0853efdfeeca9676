#include "tools/bazel/selftest/mpi_probe.h"

#include <mpi.h>

namespace lockstep::selftest {

std::string MpiLibraryVersion() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version, static_cast<size_t>(length));
}

}  // namespace lockstep::selftest
