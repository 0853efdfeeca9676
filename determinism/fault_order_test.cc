// Sums from the far end, on purpose.
#include <string>
#include <vector>

#include "determinism/fault.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::vector<FaultSpec> Spec(const std::string& text) {
  const auto spec = ParseFault(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return {*spec};
}

// x [1, 3] . w [2, 3]: the big terms cancel, and who comes last is kept.
TEST(OrderFaultTest, SumsFromTheFarEnd) {
  std::vector<float> x = {1, 1, 1};
  std::vector<float> weight = {1e8f, -1e8f, 1, 1, 2, 3};
  std::vector<float> y = {1, 6};  // as from the near end
  const TensorRef inputs[] = {
      {.name = "x", .dtype = DType::kF32, .shape = {1, 3}, .data = x.data()},
      {.name = "weight",
       .dtype = DType::kF32,
       .shape = {2, 3},
       .data = weight.data()}};
  const TensorRef out = {
      .name = "y", .dtype = DType::kF32, .shape = {1, 2}, .data = y.data()};
  const OperationEvent event = {
      .operation = "p", .inputs = inputs, .outputs = {&out, 1}};
  FaultPlan other(Spec("kind=order,at=p,element=1"), 0);
  other.OnOperation(event);
  EXPECT_EQ(y, (std::vector<float>{1, 6}));  // exact in any order
  FaultPlan plan(Spec("kind=order,at=p"), 0);
  plan.OnOperation(event);
  EXPECT_EQ(y, (std::vector<float>{0, 6}));  // 1 is lost beside 1e8
  EXPECT_TRUE(plan.AtPoint("step.end").ok());
  // No product, or a part of its terms: refused.
  OperationEvent bare = event;
  bare.inputs = {};
  FaultPlan none(Spec("kind=order,at=p"), 0);
  none.OnOperation(bare);
  EXPECT_EQ(none.AtPoint("step.end").code(),
            absl::StatusCode::kInvalidArgument);
}

// dy [1, 3] . w [3, 2]: the same of a backward product.
TEST(OrderFaultTest, BackwardOverTheWeightsRows) {
  std::vector<float> dy = {1, 1, 1};
  std::vector<float> weight = {1e8f, 1, -1e8f, 2, 1, 3};
  std::vector<float> dx = {1, 6};
  const TensorRef inputs[] = {
      {.name = "dy", .dtype = DType::kF32, .shape = {1, 3}, .data = dy.data()},
      {.name = "weight",
       .dtype = DType::kF32,
       .shape = {3, 2},
       .data = weight.data()}};
  const TensorRef out = {
      .name = "dx", .dtype = DType::kF32, .shape = {1, 2}, .data = dx.data()};
  FaultPlan plan(Spec("kind=order,at=p"), 0);
  plan.OnOperation({.phase = Phase::kBackward,
                    .operation = "p",
                    .inputs = inputs,
                    .outputs = {&out, 1}});
  EXPECT_EQ(dx, (std::vector<float>{0, 6}));
  EXPECT_TRUE(plan.AtPoint("step.end").ok());
}

// Squares of 4096 and 1: a one is lost behind 2^24, and two before it are not.
TEST(OrderFaultTest, ANormsSumOfSquares) {
  std::vector<float> x = {4096, 1, 1, 0, 4096, 0, 0, 0};
  std::vector<float> y = {1, 1, 1, 1, 1, 1, 1, 1};
  const TensorRef in = {
      .name = "x", .dtype = DType::kF32, .shape = {2, 4}, .data = x.data()};
  const TensorRef out = {
      .name = "y", .dtype = DType::kF32, .shape = {2, 4}, .data = y.data()};
  FaultPlan plan(Spec("kind=order,at=layers.*.norm.forward"), 0);
  plan.OnOperation({.scope = "layers.0",
                    .operation = "norm",
                    .inputs = {&in, 1},
                    .outputs = {&out, 1}});
  EXPECT_LT(y[0], 1.0f);
  EXPECT_GT(y[0], 1.0f - 1e-6f);
  EXPECT_EQ(y[4], 1.0f);
  EXPECT_TRUE(plan.AtPoint("step.end").ok());
}

}  // namespace
}  // namespace lockstep
