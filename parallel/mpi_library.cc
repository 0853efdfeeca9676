#include "parallel/mpi_library.h"

#include <mpi.h>

#include "absl/strings/str_cat.h"

namespace lockstep {

MpiLibrary DescribeMpiLibrary() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string running(text, static_cast<size_t>(length));
  running = running.substr(0, running.find_first_of(",\n"));
  return {absl::StrCat("Open MPI v", OMPI_MAJOR_VERSION, ".",
                       OMPI_MINOR_VERSION, ".", OMPI_RELEASE_VERSION),
          running};
}

}  // namespace lockstep
