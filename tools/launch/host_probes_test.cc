// Hosts asked for a sign of life, all at once.
#include "tools/launch/host_probes.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "determinism/clock.h"
#include "determinism/file_system.h"

namespace lockstep {
namespace {

const std::vector<LaunchHost> kHosts = {{"a"}, {"b"}, {"c"}};

int64_t NowMs() { return RealClock().MonotonicNanos() / 1'000'000; }

HostProbes::Silent AnswerOf(HostProbes& probes) {
  probes.Begin(NowMs(), kHosts);
  for (int i = 0; i < 600; ++i) {
    if (const auto silent = probes.Look(NowMs())) return *silent;
    poll(nullptr, 0, 50);
  }
  ADD_FAILURE() << "no answer";
  return {};
}

TEST(HostProbesTest, WhoFailsOrIsKilledDoesNotAnswer) {
  HostProbes probes(
      "case $LOCKSTEP_HOST in a) echo out;; b) exit 3;; c) kill -9 $$;; esac",
      60'000);
  const HostProbes::Silent silent = AnswerOf(probes);
  EXPECT_EQ(silent,
            (HostProbes::Silent{{"b", "its probe ended with 3"},
                                {"c", "its probe was ended by signal 9"}}));
  EXPECT_FALSE(probes.asking());
  EXPECT_FALSE(probes.Look(NowMs()).has_value());
}

// Three late ones cost the time of one, and leave nothing behind.
TEST(HostProbesTest, WhoIsLateDoesNotAnswerAndIsEnded) {
  const std::string mark = testing::TempDir() + "/late";
  HostProbes probes("(sleep 3; : >" + mark + ") & wait", 1'000);
  probes.Begin(0, kHosts);
  EXPECT_FALSE(probes.Look(999).has_value());
  EXPECT_TRUE(probes.asking());
  const auto silent = probes.Look(1'000);
  ASSERT_TRUE(silent.has_value());
  EXPECT_EQ(silent->size(), 3u);
  EXPECT_EQ(silent->at("c"), "its probe took longer than 1 s");
  poll(nullptr, 0, 3'500);
  EXPECT_FALSE(PosixFileSystem()->Exists(mark));
}

TEST(HostProbesTest, WithoutACommandEveryHostAnswersAtOnce) {
  HostProbes probes("", 1'000);
  probes.Begin(0, kHosts);
  const auto silent = probes.Look(0);
  ASSERT_TRUE(silent.has_value());
  EXPECT_TRUE(silent->empty());
}

}  // namespace
}  // namespace lockstep
