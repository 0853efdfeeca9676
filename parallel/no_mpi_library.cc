// The answer of a build without MPI.

#include "parallel/mpi_library.h"

namespace lockstep {

MpiLibrary DescribeMpiLibrary() { return {"", ""}; }

}  // namespace lockstep
