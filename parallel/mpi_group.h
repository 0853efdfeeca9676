// Makes a communicator of a part of the ranks. Private to the MPI transport.

#ifndef PARALLEL_MPI_GROUP_H_
#define PARALLEL_MPI_GROUP_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/mpi_world.h"

namespace lockstep::mpi_internal {

// Where this rank stands in the new communicator.
struct Place {
  int color = 0;
  int rank = 0;
  uint64_t id = 0;  // equal on its members, and of no other communicator
  std::vector<int> world_ranks = {};
};

// A collective call over `parent`, all of whose ranks are known to be here.
std::unique_ptr<Communicator> MakeMpiComm(std::shared_ptr<MpiWorld> world,
                                          MPI_Comm parent, const Place& place);

}  // namespace lockstep::mpi_internal

#endif  // PARALLEL_MPI_GROUP_H_
