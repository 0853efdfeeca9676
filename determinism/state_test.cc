// The registry: nothing is left out of names, fingerprints or poison (N11).

#include "determinism/state.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

// One entry of each kind; `omitted` leaves one out, as a mistake would.
class Everything : public Stateful {
 public:
  static constexpr int kEntries = 6;

  Everything(StateRegistry& registry, const std::string& name)
      : Stateful(registry, name) {}

  void VisitState(StateVisitor& visitor) override {
    int entry = 0;
    const auto present = [&] { return entry++ != omitted; };
    if (present()) {
      visitor.Tensor({.name = "weight",
                      .group = StateGroup::kMaster,
                      .dtype = DType::kF32,
                      .global_shape = {2, 3},
                      .box_start = {0, 0},
                      .box_shape = {2, 3},
                      .data = weight.data()});
    }
    if (present()) {
      visitor.Tensor({.name = "runtime",
                      .group = StateGroup::kRuntime,
                      .dtype = DType::kBF16,
                      .global_shape = {3},
                      .box_start = {0},
                      .box_shape = {3},
                      .data = runtime.data()});
    }
    if (present()) visitor.U64("samples", StateGroup::kCounter, samples);
    if (present()) visitor.I64("exponent", StateGroup::kGrid, exponent);
    if (present()) visitor.F64("loss_scale", StateGroup::kScaler, loss_scale);
    if (present()) visitor.Bytes("skip_list", StateGroup::kData, skip_list);
  }

  int omitted = -1;
  std::vector<float> weight = {1, 2, 3, 4, 5, 6};
  std::vector<uint16_t> runtime = {0x3f80, 0x4000, 0x4040};
  uint64_t samples = 42;
  int64_t exponent = -7;
  double loss_scale = 65536;
  std::string skip_list = "1-3,7";
};

class NameCollector : public StateVisitor {
 public:
  void Tensor(const StateTensor& t) override { names.push_back(t.name); }
  void U64(const std::string& n, StateGroup, uint64_t&) override { Add(n); }
  void I64(const std::string& n, StateGroup, int64_t&) override { Add(n); }
  void F64(const std::string& n, StateGroup, double&) override { Add(n); }
  void Bytes(const std::string& n, StateGroup, std::string&) override {
    Add(n);
  }
  void Add(const std::string& name) { names.push_back(name); }
  std::vector<std::string> names;
};

TEST(StateTest, ConstructionRegistersAndDestructionLeaves) {
  StateRegistry registry;
  {
    const Everything b(registry, "b");
    const Everything a(registry, "a");
    EXPECT_EQ(registry.Names(), (std::vector<std::string>{"a", "b"}));
  }
  EXPECT_TRUE(registry.Names().empty());
}

TEST(StateTest, VisitsInTheOrderOfNamesWithTheObjectBefore) {
  StateRegistry registry;
  const Everything b(registry, "b");
  const Everything a(registry, "a");
  NameCollector collector;
  registry.Visit(collector);
  EXPECT_EQ(collector.names,
            (std::vector<std::string>{
                "a/weight", "a/runtime", "a/samples", "a/exponent",
                "a/loss_scale", "a/skip_list", "b/weight", "b/runtime",
                "b/samples", "b/exponent", "b/loss_scale", "b/skip_list"}));
}

TEST(StateTest, EachEntryLeftOutChangesTheFingerprint) {
  StateRegistry registry;
  Everything state(registry, "s");
  std::set<std::string> seen = {StateFingerprint(registry)};
  for (state.omitted = 0; state.omitted < Everything::kEntries;
       ++state.omitted) {
    EXPECT_TRUE(seen.insert(StateFingerprint(registry)).second)
        << "entry " << state.omitted;
  }
  EXPECT_EQ(seen.size(), 1u + Everything::kEntries);
}

TEST(StateTest, EachValueDecidesTheFingerprint) {
  StateRegistry registry;
  Everything state(registry, "s");
  std::set<std::string> seen = {StateFingerprint(registry)};
  const auto changed = [&] {
    return seen.insert(StateFingerprint(registry)).second;
  };
  state.weight[5] = -6;
  EXPECT_TRUE(changed());
  state.runtime[0] ^= 1;
  EXPECT_TRUE(changed());
  ++state.samples;
  EXPECT_TRUE(changed());
  ++state.exponent;
  EXPECT_TRUE(changed());
  state.loss_scale *= 2;
  EXPECT_TRUE(changed());
  state.skip_list += '8';
  EXPECT_TRUE(changed());
  const Everything another(registry, "t");
  EXPECT_TRUE(changed());
}

TEST(StateTest, AScalarIsHashedAsATensorOfOneElement) {
  StateRegistry registry;
  Everything state(registry, "s");
  const auto records =
      StateTensorFingerprints(registry, SetOf(StateGroup::kCounter));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "s/samples");
  EXPECT_EQ(records[0].dtype, DType::kU64);
  EXPECT_EQ(records[0].shape, std::vector<int64_t>{1});
  const unsigned char bytes[8] = {42};
  EXPECT_EQ(records[0].value, FingerprintBytes(bytes, 8));
}

TEST(StateTest, GroupsSelectEntries) {
  StateRegistry registry;
  Everything state(registry, "s");
  const std::string saved = StateFingerprint(registry, kSavedState);
  const std::string all = StateFingerprint(registry);
  EXPECT_NE(saved, all);
  state.runtime[0] ^= 1;
  EXPECT_EQ(StateFingerprint(registry, kSavedState), saved);
  EXPECT_NE(StateFingerprint(registry), all);
}

// Two ranks hold the halves of a tensor; their records add up to the whole's.
class Box : public Stateful {
 public:
  Box(StateRegistry& registry, int64_t first_row, int64_t rows,
      const std::vector<float>& whole)
      : Stateful(registry, "s"),
        first_row_(first_row),
        data_(whole.begin() + first_row * 3,
              whole.begin() + (first_row + rows) * 3) {}
  void VisitState(StateVisitor& visitor) override {
    const auto rows = static_cast<int64_t>(data_.size()) / 3;
    visitor.Tensor({.name = "weight",
                    .group = StateGroup::kMaster,
                    .dtype = DType::kF32,
                    .global_shape = {4, 3},
                    .box_start = {first_row_, 0},
                    .box_shape = {rows, 3},
                    .data = data_.data()});
  }

 private:
  const int64_t first_row_;
  std::vector<float> data_;
};

TEST(StateTest, FingerprintsOfDisjointBoxesAddUp) {
  const std::vector<float> whole = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  StateRegistry one, left, right;
  const Box all(one, 0, 4, whole), top(left, 0, 1, whole),
      bottom(right, 1, 3, whole);
  TensorFingerprint sum = StateTensorFingerprints(left, kAllState)[0];
  sum.value += StateTensorFingerprints(right, kAllState)[0].value;
  const TensorFingerprint expected = StateTensorFingerprints(one, kAllState)[0];
  EXPECT_EQ(sum.value, expected.value);
  EXPECT_EQ(FieldFingerprint({sum}), StateFingerprint(one));
}

TEST(StateTest, PoisonReachesEveryEntry) {
  StateRegistry registry;
  Everything state(registry, "s");
  const auto before = StateTensorFingerprints(registry, kAllState);
  PoisonState(registry);
  const auto after = StateTensorFingerprints(registry, kAllState);
  ASSERT_EQ(before.size(), size_t{Everything::kEntries});
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(before[i].value == after[i].value) << before[i].name;
  }
  for (const float value : state.weight) EXPECT_NE(value, value);  // NaN
  EXPECT_NE(state.loss_scale, state.loss_scale);
  for (const uint16_t bits : state.runtime) EXPECT_EQ(bits, 0xffa5);
  EXPECT_LT(state.exponent, 0);
}

TEST(StateTest, PoisonKeepsToTheGroups) {
  StateRegistry registry;
  Everything state(registry, "s");
  PoisonState(registry, SetOf(StateGroup::kRuntime));
  EXPECT_EQ(state.weight[0], 1);
  EXPECT_EQ(state.samples, 42u);
  EXPECT_EQ(state.runtime[0], 0xffa5);
}

class TwiceNamed : public Stateful {
 public:
  explicit TwiceNamed(StateRegistry& registry) : Stateful(registry, "t") {}
  void VisitState(StateVisitor& visitor) override {
    visitor.U64("x", StateGroup::kCounter, x_);
    visitor.U64("x", StateGroup::kCounter, x_);
  }

 private:
  uint64_t x_ = 0;
};

TEST(StateDeathTest, NamesAreUnique) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  StateRegistry registry;
  const Everything state(registry, "s");
  EXPECT_DEATH(Everything(registry, "s"), "two stateful objects are named s");
  EXPECT_DEATH(
      {
        const TwiceNamed twice(registry);
        StateFingerprint(registry);
      },
      "t/x twice");
}

TEST(StateDeathTest, TheRegistryOutlivesItsObjects) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto registry = std::make_unique<StateRegistry>();
        const Everything state(*registry, "s");
        registry.reset();
      },
      "destroyed before s");
}

}  // namespace
}  // namespace lockstep
