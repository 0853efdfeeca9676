#include "parallel/mesh.h"

#include <algorithm>
#include <limits>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string Text(const char* separator, int data, int pipeline, int tensor) {
  return "data " + std::to_string(data) + separator + "pipeline " +
         std::to_string(pipeline) + separator + "tensor " +
         std::to_string(tensor);
}

// What to do about a product of degrees that is not the world.
std::string Remedy(const MeshShape& shape, int world) {
  const int model = shape.pipeline * shape.tensor;
  const std::string start = "start " + std::to_string(shape.world()) + " ranks";
  if (world % model != 0) {
    return start + ", or choose pipeline and tensor whose product divides " +
           std::to_string(world);
  }
  MeshShape fitting = shape;
  fitting.data = world / model;
  return start + ", or use " + ToString(fitting);
}

}  // namespace

const char* NameOf(MeshAxis axis) {
  switch (axis) {
    case MeshAxis::kData:
      return "data";
    case MeshAxis::kPipeline:
      return "pipeline";
    case MeshAxis::kTensor:
      return "tensor";
  }
  return "unknown";
}

int MeshShape::degree(MeshAxis axis) const {
  if (axis == MeshAxis::kData) return data;
  return axis == MeshAxis::kPipeline ? pipeline : tensor;
}

int MeshCoordinate::along(MeshAxis axis) const {
  if (axis == MeshAxis::kData) return data;
  return axis == MeshAxis::kPipeline ? pipeline : tensor;
}

std::string ToString(const MeshShape& shape) {
  return Text(" x ", shape.data, shape.pipeline, shape.tensor);
}

std::string ToString(const MeshCoordinate& coordinate) {
  return Text(", ", coordinate.data, coordinate.pipeline, coordinate.tensor);
}

absl::StatusOr<Mesh> Mesh::Make(const MeshShape& shape, int world) {
  const std::string where = "section [parallel]: " + ToString(shape);
  int64_t product = 1;
  for (const int degree : {shape.data, shape.pipeline, shape.tensor}) {
    if (degree < 1) {
      return InputError("a degree of the mesh is below 1", where,
                        "give degrees of 1 or more");
    }
    product *= degree;  // both fit an int: no overflow
    if (product > std::numeric_limits<int>::max()) {
      return InputError("the mesh has too many ranks", where,
                        "give smaller degrees");
    }
  }
  if (product != world) {
    return InputError("the mesh has " + std::to_string(product) +
                          " ranks, the run has " + std::to_string(world),
                      where, Remedy(shape, world));
  }
  return Mesh(shape);
}

MeshCoordinate Mesh::CoordinateOf(int rank) const {
  LS_CHECK(rank >= 0 && rank < world()) << rank << " of " << world();
  return {.data = rank / shape_.tensor % shape_.data,
          .pipeline = rank / shape_.tensor / shape_.data,
          .tensor = rank % shape_.tensor};
}

int Mesh::RankOf(const MeshCoordinate& coordinate) const {
  for (const MeshAxis axis :
       {MeshAxis::kData, MeshAxis::kPipeline, MeshAxis::kTensor}) {
    const int position = coordinate.along(axis);
    LS_CHECK(position >= 0 && position < shape_.degree(axis))
        << NameOf(axis) << " " << position;
  }
  return (coordinate.pipeline * shape_.data + coordinate.data) * shape_.tensor +
         coordinate.tensor;
}

int Mesh::ColorAlong(MeshAxis axis, int rank) const {
  MeshCoordinate first = CoordinateOf(rank);
  if (axis == MeshAxis::kData) first.data = 0;
  if (axis == MeshAxis::kPipeline) first.pipeline = 0;
  if (axis == MeshAxis::kTensor) first.tensor = 0;
  return RankOf(first);
}

int Mesh::KeyAlong(MeshAxis axis, int rank) const {
  return CoordinateOf(rank).along(axis);
}

}  // namespace lockstep
