// Fewer hosts than there were, and more again.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tools/launch/launch_for_test.h"

namespace lockstep {
namespace {

TEST(LaunchResizeTest, ASpareTakesTheLostHostsPlaceAtOnce) {
  LaunchMachine machine = Started();
  machine.JobEnded(1000, {.exit_code = 6, .step = 3, .host = "b"});
  const int64_t now = UntilItAsks(machine, 1000);
  const LaunchAction start =
      Only(machine.HostsSeen(now, Hosts({"a", "s1"})), Kind::kStart);
  EXPECT_EQ(NamesOf(start), (Names{"a", "s1"}));
  EXPECT_FALSE(start.resize.has_value());  // the same layout
}

TEST(LaunchResizeTest, WaitsForAReplacementAndThenTakesTheBestThatIsAllowed) {
  LaunchMachine machine = Started();
  machine.JobEnded(1000, {.exit_code = 6, .step = 3, .what = "b is gone"});
  int64_t now = 1000;
  int asked = 0;
  Actions actions;
  for (; actions.empty(); ++asked) {
    now = UntilItAsks(machine, now);
    actions = machine.HostsSeen(now, Hosts({"a"}));
  }
  EXPECT_GT(asked, 10);
  EXPECT_GE(now, 61'000);
  EXPECT_LE(now, 61'500);
  const LaunchAction start = Only(actions, Kind::kStart);
  EXPECT_EQ(start.layout, (LaunchLayout{2, 2, 1, 16}));
  ASSERT_TRUE(start.resize.has_value());
  EXPECT_EQ(start.resize->from, Policy().wanted);
  EXPECT_GE(start.resize->waited_ms, 60'000);
  EXPECT_NE(start.resize->reason.find("b is gone"), std::string::npos);

  // Up again as soon as there are hosts for it.
  machine.JobEnded(now, {.exit_code = 6, .step = 9, .saved_step = 8});
  now = UntilItAsks(machine, now);
  const LaunchAction up =
      Only(machine.HostsSeen(now, Hosts({"a", "c"})), Kind::kStart);
  EXPECT_EQ(up.layout, Policy().wanted);
  ASSERT_TRUE(up.resize.has_value());
  EXPECT_EQ(up.resize->from, (LaunchLayout{2, 2, 1, 16}));
}

// Three slots short of four replicas: three, and two slots idle.
TEST(LaunchResizeTest, TheBatchPolicyDecidesWhatThreeReplicasDo) {
  const std::vector<LaunchHost> hosts = {{"a", 4}, {"c", 3}};
  for (const auto& [batch, data, micro_batches] :
       {std::tuple{ElasticBatch::kKeep, 3, 16},
        std::tuple{ElasticBatch::kNearest, 3, 15},
        std::tuple{ElasticBatch::kRefuse, 2, 16}}) {
    LaunchPolicy policy = Policy();
    policy.batch = batch;
    policy.wait_for_replacement_ms = 0;
    LaunchMachine machine(policy);
    machine.Begin(0);
    const LaunchAction start = Only(machine.HostsSeen(0, hosts), Kind::kStart);
    EXPECT_EQ(start.layout, (LaunchLayout{data, 2, 1, micro_batches}));
    EXPECT_FALSE(start.idle.empty());
  }
}

TEST(LaunchResizeTest, WithoutOneReplicaOrALayoutThatFitsItEndsWithSix) {
  LaunchPolicy policy = Policy();
  policy.wait_for_replacement_ms = 0;
  LaunchMachine machine(policy);
  machine.Begin(0);
  EXPECT_EQ(Only(machine.HostsSeen(0, {{"a", 1}}), Kind::kEnd).exit_code, 6);
  policy.fits = [](const LaunchLayout& layout) { return layout.data == 1; };
  LaunchMachine picky(policy);
  picky.Begin(0);
  EXPECT_EQ(Only(picky.HostsSeen(0, {{"a", 6}}), Kind::kStart).layout.data, 1);
}

}  // namespace
}  // namespace lockstep
