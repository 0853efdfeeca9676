#include "parallel/mesh.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr MeshAxis kAxes[] = {MeshAxis::kData, MeshAxis::kPipeline,
                              MeshAxis::kTensor};

std::vector<MeshShape> Shapes() {
  std::vector<MeshShape> shapes;
  for (const int data : {1, 2, 3}) {
    for (const int pipeline : {1, 2, 4}) {
      for (const int tensor : {1, 2, 5}) {
        shapes.push_back({data, pipeline, tensor});
      }
    }
  }
  return shapes;
}

TEST(MeshTest, RanksAndCoordinatesAreOneToOne) {
  int compared = 0;
  for (const MeshShape& shape : Shapes()) {
    const auto mesh = Mesh::Make(shape, shape.world());
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    for (int rank = 0; rank < shape.world(); ++rank, ++compared) {
      const MeshCoordinate at = mesh->CoordinateOf(rank);
      EXPECT_EQ(mesh->RankOf(at), rank) << ToString(at);
      for (const MeshAxis axis : kAxes) {
        EXPECT_GE(at.along(axis), 0);
        EXPECT_LT(at.along(axis), shape.degree(axis));
      }
    }
  }
  EXPECT_EQ(compared, 6 * 7 * 8);
}

TEST(MeshTest, TensorIsFastestThenDataThenPipeline) {
  const auto mesh = Mesh::Make({.data = 2, .pipeline = 2, .tensor = 2}, 8);
  ASSERT_TRUE(mesh.ok());
  EXPECT_EQ(mesh->CoordinateOf(1), (MeshCoordinate{0, 0, 1}));
  EXPECT_EQ(mesh->CoordinateOf(2), (MeshCoordinate{1, 0, 0}));
  EXPECT_EQ(mesh->CoordinateOf(4), (MeshCoordinate{0, 1, 0}));
}

TEST(MeshTest, AColorGathersTheRanksOfOneLineInOrder) {
  const auto mesh = Mesh::Make({.data = 3, .pipeline = 2, .tensor = 4}, 24);
  ASSERT_TRUE(mesh.ok());
  for (const MeshAxis axis : kAxes) {
    std::vector<std::vector<int>> keys(24);
    for (int rank = 0; rank < 24; ++rank) {
      keys[mesh->ColorAlong(axis, rank)].push_back(mesh->KeyAlong(axis, rank));
    }
    int lines = 0;
    for (const std::vector<int>& line : keys) {
      if (line.empty()) continue;
      ++lines;
      ASSERT_EQ(static_cast<int>(line.size()), mesh->shape().degree(axis));
      for (size_t i = 0; i < line.size(); ++i) {
        EXPECT_EQ(line[i], static_cast<int>(i)) << NameOf(axis);
      }
    }
    EXPECT_EQ(lines, 24 / mesh->shape().degree(axis));
  }
}

TEST(MeshTest, ShapesThatDoNotFitAreRefusedWithOneThatDoes) {
  const auto wrong = Mesh::Make({.data = 2, .pipeline = 1, .tensor = 2}, 8);
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string text(wrong.status().message());
  EXPECT_NE(text.find("4 ranks, the run has 8"), std::string::npos) << text;
  EXPECT_NE(text.find("data 4 x pipeline 1 x tensor 2"), std::string::npos)
      << text;
  EXPECT_FALSE(Mesh::Make({.data = 1, .pipeline = 1, .tensor = 3}, 8).ok());
  EXPECT_FALSE(Mesh::Make({.data = 0, .pipeline = 1, .tensor = 1}, 0).ok());
  EXPECT_FALSE(Mesh::Make({.data = -1, .pipeline = -1, .tensor = 1}, 1).ok());
  EXPECT_FALSE(
      Mesh::Make({.data = 1 << 16, .pipeline = 1 << 16, .tensor = 1}, 0).ok());
}

}  // namespace
}  // namespace lockstep
