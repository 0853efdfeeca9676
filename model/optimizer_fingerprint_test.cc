// N11: fingerprints taken while gradients and state are in cache are those of
// the tensors where they lie.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "determinism/state_fingerprint.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/gradient_summary.h"
#include "model/kernels/testing.h"
#include "model/optimizer.h"
#include "model/parameter_boxes.h"

namespace lockstep {
namespace {

ModelConfig Config() {
  ModelConfig c;
  c.pattern = "M*-";
  c.hidden = 96;
  c.vocab = 700;  // a table that is several blocks long
  c.ffn = 100;
  c.heads = 4;
  c.kv_heads = 1;  // of which one tensor rank has a copy
  c.head_dim = 12;
  c.mamba_heads = 4;
  c.mamba_head_dim = 10;
  c.groups = 4;
  c.state = 18;
  return c;
}

struct Placed {
  DType storage;
  StorePlacement placement;
};

// All of a model, a share of rows, of columns, and of both.
std::vector<Placed> Placements() {
  std::vector<Placed> all;
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const int64_t degree : {1, 2}) {
      for (const int data_ranks : {1, 3}) {
        all.push_back({storage,
                       {.stages = {},
                        .tensor = {degree, degree - 1, 4},
                        .data_ranks = data_ranks,
                        .data_rank = data_ranks / 2}});
      }
    }
  }
  return all;
}

class Rig {
 public:
  Rig(const Placed& placed, int threads)
      : device_(threads, BestIsa()),
        store_(registry_, device_, ListParameters(Config(), placed.storage, 4),
               GradientMode::kLeafFp32, placed.placement),
        optimizer_(registry_, device_, store_, {}) {
    store_.Initialise(11);
    uint64_t seed = 0;
    for (Parameter& p : store_.all()) {
      const std::vector<float> grad = RandomFloats(p.owned_count(), ++seed);
      std::copy(grad.begin(), grad.end(), p.grad);
    }
  }

  KnownFingerprints Update() {
    const ScopedFloatEnv env;
    KnownFingerprints known;
    optimizer_.Update({.device = device_, .hooks = hooks_}, 1e-3, 0.5, &known);
    return known;
  }

  Device& device() { return device_; }
  ParameterStore& store() { return store_; }
  const StateRegistry& registry() const { return registry_; }

 private:
  Device device_;
  OperationHooks hooks_;
  StateRegistry registry_;
  ParameterStore store_;
  Optimizer optimizer_;
};

constexpr StateGroupSet kWritten = SetOf(StateGroup::kMaster) |
                                   SetOf(StateGroup::kMoment) |
                                   SetOf(StateGroup::kRuntime);

TEST(OptimizerFingerprintTest, N11WhatAnUpdateTellsIsWhatItWrote) {
  int64_t compared = 0;
  for (const Placed& placed : Placements()) {
    for (const int threads : {1, 3}) {
      Rig rig(placed, threads);
      const KnownFingerprints known = rig.Update();
      for (const TensorFingerprint& t :
           StateTensorFingerprints(rig.registry(), kWritten)) {
        const auto told = known.find(t.name);
        if (told == known.end()) {
          // A copy, or rows that are another's: nothing to be read either.
          EXPECT_EQ(t.value, Fingerprint()) << t.name;
          continue;
        }
        EXPECT_EQ(told->second, t.value) << t.name;
        ++compared;
      }
      EXPECT_EQ(StateFingerprint(rig.registry(), kWritten),
                FieldFingerprint(
                    StateTensorFingerprints(rig.registry(), kWritten, known)));
    }
  }
  EXPECT_GT(compared, 16 * 4 * 15);
}

// Every entry is told of on a rank that has all: none is read again.
TEST(OptimizerFingerprintTest, NothingIsLeftToBeRead) {
  Rig rig(Placements()[0], 2);
  KnownFingerprints known = rig.Update();
  EXPECT_EQ(known.size(), 4 * rig.store().all().size());
  for (auto& [name, value] : known) value = {{1, 2}};
  for (const TensorFingerprint& t :
       StateTensorFingerprints(rig.registry(), kWritten, known)) {
    EXPECT_EQ(t.value, (Fingerprint{{1, 2}})) << t.name;
  }
}

// The canary: what is written behind the update's back is not what it told.
TEST(OptimizerFingerprintTest, AFlipBehindTheUpdateIsNotTold) {
  Rig rig(Placements()[0], 1);
  const KnownFingerprints known = rig.Update();
  rig.store().all()[0].master[5] += 1;
  EXPECT_NE(StateFingerprint(rig.registry(), kWritten),
            FieldFingerprint(
                StateTensorFingerprints(rig.registry(), kWritten, known)));
}

TEST(GradientSummaryTest, N11AndN6OfTheRowsOwned) {
  int64_t compared = 0;
  for (const Placed& placed : Placements()) {
    for (const int threads : {1, 3}) {
      Rig rig(placed, threads);
      const GradientSummary got =
          SummariseGradients(rig.device(), rig.store(), true);
      ExactSum squares;
      ASSERT_EQ(got.fingerprints.size(), rig.store().all().size());
      for (size_t i = 0; i < got.fingerprints.size(); ++i) {
        const Parameter& p = rig.store().all()[i];
        Fingerprint want;
        if (p.speaks) {
          for (int64_t e = 0; e < p.owned_count(); ++e) {
            squares.AddSquare(p.grad[e]);
          }
          for (const ParameterBox& box : BoxesOf(p, placed.placement.tensor)) {
            want += FingerprintBox(p.grad + box.owned, DType::kF32,
                                   p.spec.shape, box.start, box.shape);
          }
        }
        EXPECT_EQ(got.fingerprints[i], want) << p.spec.name;
        ++compared;
      }
      EXPECT_EQ(got.squares.Words(), squares.Words());
      EXPECT_TRUE(SummariseGradients(rig.device(), rig.store(), false)
                      .fingerprints.empty());
    }
  }
  EXPECT_GT(compared, 16 * 15);
}

}  // namespace
}  // namespace lockstep
