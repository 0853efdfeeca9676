// What several ranks hold of one tensor stays one tensor, on every rung: a copy
// that drifted would be read by no checkpoint and no fingerprint, which take
// the first owner's.
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "determinism/state.h"
#include "tests/layout_matrix/layout_run.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

// Bytes of every entry and box, compared where another rank had the same one.
class Copies : public StateVisitor {
 public:
  void Tensor(const StateTensor& tensor) override {
    size_t bytes = SizeOf(tensor.dtype);
    std::string key = tensor.name;
    for (size_t d = 0; d < tensor.box_shape.size(); ++d) {
      bytes *= static_cast<size_t>(tensor.box_shape[d]);
      key += " " + std::to_string(tensor.box_start[d]) + "+" +
             std::to_string(tensor.box_shape[d]);
    }
    if (bytes == 0) return;
    Take(key, {static_cast<const char*>(tensor.data), bytes});
  }
  void U64(const std::string& name, StateGroup, uint64_t& value) override {
    Take(name, std::to_string(value));
  }
  void I64(const std::string& name, StateGroup, int64_t& value) override {
    Take(name, std::to_string(value));
  }
  void F64(const std::string& name, StateGroup, double& value) override {
    Take(name, {reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  void Bytes(const std::string& name, StateGroup, std::string& value) override {
    Take(name, value);
  }

  // Of entries with this in their names.
  int64_t Compared(const std::string& part) const {
    int64_t compared = 0;
    for (const auto& [key, copies] : copies_) {
      if (key.find(part) != std::string::npos) compared += copies;
    }
    return compared;
  }
  const std::vector<std::string>& different() const { return different_; }

 private:
  void Take(const std::string& key, const std::string& bytes) {
    const auto [at, first] = bytes_.emplace(key, bytes);
    if (first) return;
    ++copies_[key];
    if (at->second != bytes) different_.push_back(key);
  }

  std::map<std::string, std::string> bytes_;
  std::map<std::string, int64_t> copies_;
  std::vector<std::string> different_;
};

LayoutCase Case(const MeshShape& shape, const std::string& guarantee) {
  LayoutCase layout;
  layout.shape = shape;
  layout.sets = {"guarantee=" + guarantee, "precision.mode=bf16",
                 "model.hidden_dropout=0.1", "model.kv_heads=1",
                 "parallel.sequence=true"};
  return layout;
}

// Gradients of what tensor ranks share differed between them where activations
// were split along the sequence (NVIDIA/Megatron-LM#1446,
// NVIDIA/TransformerEngine#435): norms here, and a key/value head that four
// ranks use.
TEST(CopiesTest, EveryCopyOfStateIsTheSameAfterSteps) {
  const std::string recipe = BlendRecipe();
  for (const std::string guarantee :
       {"statistical", "bitwise", "layout_invariant"}) {
    for (const MeshShape& shape : {MeshShape{1, 1, 4}, MeshShape{2, 1, 2},
                                   MeshShape{2, 2, 2}, MeshShape{3, 1, 1}}) {
      Copies copies;
      RunLayout(recipe, Case(shape, guarantee), [&](int, Stepper& stepper) {
        stepper.registry().Visit(copies);
      });
      EXPECT_TRUE(copies.different().empty())
          << ToString(shape) << ", " << guarantee << ": "
          << copies.different().size() << " such as "
          << copies.different().front();
      EXPECT_GT(copies.Compared("run/cursor"), 0) << ToString(shape);
      if (shape.tensor == 1) continue;
      EXPECT_GT(copies.Compared("norm.weight"), 10) << ToString(shape);
      EXPECT_GT(copies.Compared("k_proj.weight"), 2) << ToString(shape);
    }
  }
}

// Canary: a copy with another bit is found.
TEST(CopiesTest, ACopyThatDriftedIsFound) {
  Copies copies;
  RunLayout(BlendRecipe(), Case({1, 1, 2}, "bitwise"),
            [&](int rank, Stepper& stepper) {
              stepper.registry().Visit(copies);
              class Flip : public StateVisitor {
               public:
                void Tensor(const StateTensor& t) override {
                  if (t.name != "parameters/backbone.norm_f.weight.master") {
                    return;
                  }
                  static_cast<char*>(t.data)[0] ^= 1;
                }
                void U64(const std::string&, StateGroup, uint64_t&) override {}
                void I64(const std::string&, StateGroup, int64_t&) override {}
                void F64(const std::string&, StateGroup, double&) override {}
                void Bytes(const std::string&, StateGroup,
                           std::string&) override {}
              } flip;
              if (rank != 1) return;
              stepper.registry().Visit(flip);
              stepper.registry().Visit(copies);
            });
  EXPECT_FALSE(copies.different().empty());
  for (const std::string& name : copies.different()) {
    EXPECT_TRUE(absl::StrContains(name, "norm_f.weight")) << name;
  }
}

}  // namespace
}  // namespace lockstep
