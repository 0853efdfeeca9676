// Which MPI this build was made with, and which one is running.
//
// For the doctor: a library of another version than its headers is a fault that
// shows late. Asks the library for its name, which MPI allows before it is
// started; starts nothing (mpi_comm.h does).

#ifndef PARALLEL_MPI_LIBRARY_H_
#define PARALLEL_MPI_LIBRARY_H_

#include <string>

namespace lockstep {

struct MpiLibrary {
  std::string built_with;  // "Open MPI v4.1.4"; empty: a build without MPI
  std::string running;     // the library's own words; begins alike
};

MpiLibrary DescribeMpiLibrary();

}  // namespace lockstep

#endif  // PARALLEL_MPI_LIBRARY_H_
