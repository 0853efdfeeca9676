// Every tensor that an operation announces says where in the unsharded one it
// lies: so the parts of all ranks have the fingerprint of the whole (N11), and
// an element that a fault names is the same on every layout.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/trace_writer.h"
#include "tests/cases/small_run.h"
#include "tests/layout_matrix/layout_run.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

// What ranks showed of one tensor of one operation: sums of disjoint parts.
// Parts that two ranks both have count once.
struct Whole {
  std::vector<int64_t> shape;
  std::map<std::vector<std::vector<int64_t>>, Fingerprint> parts;

  Fingerprint Sum() const {
    Fingerprint sum;
    for (const auto& [place, print] : parts) sum += print;
    return sum;
  }
};
using Wholes = std::map<std::string, Whole>;

// One rank's tensors, into what all ranks share.
class Watcher : public OperationObserver {
 public:
  explicit Watcher(Wholes& wholes) : wholes_(wholes) {}

  void OnOperation(const OperationEvent& event) override {
    for (const TensorRef& tensor : event.inputs) Add(event, "in", tensor);
    for (const TensorRef& tensor : event.outputs) Add(event, "out", tensor);
  }

 private:
  void Add(const OperationEvent& event, const char* side,
           const TensorRef& tensor) {
    const std::string operation = absl::StrCat(
        event.step, " ", NameOf(event.phase), " ", std::string(event.scope),
        ".", std::string(event.operation), " ", event.first_sample, " ", side,
        " ", std::string(tensor.name));
    const std::string name = absl::StrCat(operation, " ", times_[operation]++);
    std::vector<std::vector<int64_t>> place;
    for (const std::vector<DimRange>& ranges : tensor.held) {
      std::vector<int64_t>& bounds = place.emplace_back();
      for (const DimRange& range : ranges) {
        bounds.insert(bounds.end(), {range.begin, range.end});
      }
    }
    const TensorFingerprint print = FingerprintOf(tensor);
    Whole& whole = wholes_[name];
    whole.shape = print.shape;
    const auto [at, added] = whole.parts.try_emplace(place, print.value);
    EXPECT_EQ(at->second, print.value) << name << ": equal places, other bits";
  }

  Wholes& wholes_;
  std::map<std::string, int> times_;
};

// Ranks are threads and their operations overlap, so each has a map of its own.
Wholes Watch(const std::string& recipe, const LayoutCase& layout) {
  std::vector<Wholes> shown(static_cast<size_t>(layout.shape.world()));
  std::vector<std::unique_ptr<Watcher>> watchers;
  RunLayout(recipe, layout, {}, [&](int rank, Stepper& stepper) {
    watchers.push_back(
        std::make_unique<Watcher>(shown[static_cast<size_t>(rank)]));
    stepper.AddObserver(watchers.back().get());
  });
  Wholes all = shown.front();
  for (const Wholes& rank : shown) {
    for (const auto& [name, whole] : rank) {
      Whole& to = all[name];
      to.shape = whole.shape;
      for (const auto& [place, print] : whole.parts) {
        const auto [at, added] = to.parts.try_emplace(place, print);
        EXPECT_EQ(at->second, print) << name << ": copies differ";
      }
    }
  }
  return all;
}

int64_t Compare(const Wholes& one, const Wholes& many,
                const std::string& layout) {
  int64_t shared = 0;
  EXPECT_EQ(one.size(), many.size()) << layout;
  for (const auto& [name, whole] : one) {
    const auto at = many.find(name);
    if (at == many.end()) {
      ADD_FAILURE() << layout << ": no " << name;
      continue;
    }
    EXPECT_EQ(at->second.shape, whole.shape) << layout << ": " << name;
    EXPECT_EQ(at->second.Sum(), whole.Sum()) << layout << ": " << name;
    if (at->second.parts.size() > 1) ++shared;
  }
  return shared;
}

LayoutCase Cut(MeshShape shape, bool sequence) {
  return {
      .shape = shape,
      .micro = 2,
      .sets = {"guarantee=layout_invariant", "model.pattern=M*-",
               "model.vocab=301", "model.hidden_dropout=0.1",
               "schedule.warmup=1",
               sequence ? "parallel.sequence=true" : "parallel.sequence=false"},
      .steps = 2};
}

TEST(PlacesTest, N11PartsOfRanksAddUpToTheWhole) {
  const std::string recipe = BlendRecipe();
  const Wholes one = Watch(recipe, Cut({1, 1, 1}, false));
  ASSERT_GT(one.size(), 500u);
  for (const auto& [tensor, sequence] :
       {std::pair{2, false}, std::pair{2, true}, std::pair{4, true}}) {
    const LayoutCase layout = Cut({1, 1, tensor}, sequence);
    const Wholes many = Watch(recipe, layout);
    const int64_t shared = Compare(
        one, many, absl::StrCat("tensor ", tensor, ", sequence ", sequence));
    EXPECT_GT(shared, 200) << "nothing was cut: nothing was tested";
  }
}

}  // namespace
}  // namespace lockstep
