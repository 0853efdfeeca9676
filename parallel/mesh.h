// Where a rank stands: rank <-> (data, pipeline, tensor).
//
// Tensor varies fastest, then data, then pipeline. Tensor peers exchange most
// (several times a layer), so they are neighbours and share a host; pipeline
// peers exchange least (an activation a micro-batch), so they may be far apart.
// Not part of the numbers: under `layout_invariant` any order gives the same
// bits, and this one is fixed so that rank numbers in messages mean the same
// everywhere. Pure data; communicators over an axis come from
// Communicator::Split with the functions below as colour and key.

#ifndef PARALLEL_MESH_H_
#define PARALLEL_MESH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace lockstep {

enum class MeshAxis : uint8_t { kData, kPipeline, kTensor };

// "data", "pipeline", "tensor".
const char* NameOf(MeshAxis axis);

// Degrees, each at least 1.
struct MeshShape {
  int data = 1;
  int pipeline = 1;
  int tensor = 1;

  int world() const { return data * pipeline * tensor; }
  int degree(MeshAxis axis) const;
  friend bool operator==(const MeshShape&, const MeshShape&) = default;
};

struct MeshCoordinate {
  int data = 0;
  int pipeline = 0;
  int tensor = 0;

  int along(MeshAxis axis) const;
  friend bool operator==(const MeshCoordinate&,
                         const MeshCoordinate&) = default;
};

// "data 2 x pipeline 1 x tensor 4"; "data 1, pipeline 0, tensor 3".
std::string ToString(const MeshShape& shape);
std::string ToString(const MeshCoordinate& coordinate);

class Mesh {
 public:
  // InputError when a degree is below 1, when their product does not fit an
  // int, or when it is not `world`; the message offers what would fit.
  static absl::StatusOr<Mesh> Make(const MeshShape& shape, int world);

  const MeshShape& shape() const { return shape_; }
  int world() const { return shape_.world(); }

  MeshCoordinate CoordinateOf(int rank) const;
  int RankOf(const MeshCoordinate& coordinate) const;

  // Ranks with equal colour differ along `axis` only; ordered by the key they
  // stand in the order of that axis.
  int ColorAlong(MeshAxis axis, int rank) const;
  int KeyAlong(MeshAxis axis, int rank) const;

 private:
  explicit Mesh(const MeshShape& shape) : shape_(shape) {}
  MeshShape shape_;
};

}  // namespace lockstep

#endif  // PARALLEL_MESH_H_
