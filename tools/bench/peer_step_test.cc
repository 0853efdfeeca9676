// The protocol with a peer, against peers that are one line of shell.
#include "tools/bench/peer_step.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "determinism/status.h"
#include "tools/bench/benches.h"

namespace lockstep {
namespace {

// `text` for each line it reads.
std::string Answering(const std::string& text) {
  return "sh -c 'echo ready Fake 1; while read line; do echo " + text +
         "; done'";
}

void ExpectWrong(const absl::Status& status, const std::string& what) {
  EXPECT_EQ(ExitCodeFor(status), 2) << status;
  EXPECT_NE(std::string(status.message()).find(what), std::string::npos)
      << status;
}

TEST(PeerStepTest, AStepForEachLine) {
  auto peer = PeerStep::Start(Answering("0.25"), "/a b", 2);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ((*peer)->name(), "Fake 1");
  for (int step = 0; step < 3; ++step) {
    const auto seconds = (*peer)->Seconds();
    ASSERT_TRUE(seconds.ok()) << seconds.status();
    EXPECT_EQ(*seconds, 0.25);
  }
}

// $0 to $3 are the words behind the command.
TEST(PeerStepTest, IsToldThreadsAndShape) {
  auto peer = PeerStep::Start("sh -c 'echo \"ready $0 $1 $2 $3\"'", "/a b", 2);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ((*peer)->name(), "--threads 2 --shape /a b");
  ExpectWrong((*peer)->Seconds().status(), "the peer does not do its part");
}

TEST(PeerStepTest, APeerThatDoesNotDoItsPartIsNamed) {
  ExpectWrong(PeerStep::Start("false", "/x", 1).status(), "it ended");
  ExpectWrong(PeerStep::Start("echo hello", "/x", 1).status(),
              "but `hello --threads 1 --shape /x`");
  auto peer = PeerStep::Start(Answering("soon"), "/x", 1);
  ASSERT_TRUE(peer.ok()) << peer.status();
  ExpectWrong((*peer)->Seconds().status(),
              "`soon` is not the seconds of a step");
  peer = PeerStep::Start(Answering("inf"), "/x", 1);
  ASSERT_TRUE(peer.ok()) << peer.status();
  ExpectWrong((*peer)->Seconds().status(),
              "`inf` is not the seconds of a step");
  ExpectWrong(PeerStep::Start("cat /dev/zero #", "/x", 1).status(),
              "does not end its line");
}

TEST(PeerStepTest, BenchStepIsPairedWithIt) {
  const auto cases = BenchStep({.peer = Answering("1000"),
                                .rounds = 2,
                                .recipe = "recipes/debug.toml",
                                .sets = {"data.sequence=32"}});
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::map<std::string, BenchCase> by_name;
  for (const BenchCase& c : *cases) by_name[c.name] = c;
  EXPECT_EQ(by_name["tokens"].peer, "Fake 1");
  EXPECT_GT(by_name["tokens"].peer_ratio, 100);
  const BenchCase& peer = by_name["tokens of Fake 1"];
  EXPECT_GT(peer.rate, 0);
  EXPECT_LT(peer.rate, 1);
}

// Each case but the last has its turn of the peer, which is asked for what it
// is to do and told where the bytes are.
TEST(PeerStepTest, BenchCheckpointIsPairedWithIt) {
  const std::string peer =
      "sh -c 'grep -q shard \"$3\" || exit 1; echo ready Fake 2; "
      "while read what; do case $what in open) echo 1;; stall) echo 100;; "
      "save) echo 200;; load) echo 400;; *) exit 1;; esac; done'";
  const auto cases = BenchCheckpoint({.peer = peer,
                                      .rounds = 1,
                                      .recipe = "recipes/debug.toml",
                                      .sets = {"data.sequence=32"}});
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::map<std::string, BenchCase> by_name;
  for (const BenchCase& c : *cases) by_name[c.name] = c;
  ASSERT_EQ(cases->size(), 7u);
  double expected = 100;
  for (const std::string name : {"copy that steps wait for",
                                 "save in the background", "load and verify"}) {
    EXPECT_EQ(by_name[name].peer, "Fake 2");
    EXPECT_GT(by_name[name].peer_ratio, 10);
    const double per_second = by_name[name + " of Fake 2"].rate;
    EXPECT_NEAR(by_name["copy that steps wait for of Fake 2"].rate / per_second,
                expected / 100, 1e-9);
    expected *= 2;
  }
  EXPECT_EQ(by_name["steps while it saves"].peer, "");
}

TEST(PeerStepTest, TheShapeSaysWhatIsTrained) {
  RunConfig config;
  config.model.pattern = "M-|*-";
  config.model.hidden = 48;
  config.batch.global = 6;
  config.data.sequence = 96;
  const auto shape = nlohmann::json::parse(ShapeJson(config));
  EXPECT_EQ(shape["model"]["pattern"], "M-*-");
  EXPECT_EQ(shape["model"]["hidden"], 48);
  EXPECT_EQ(shape["samples"], 6);
  EXPECT_EQ(shape["tokens"], 96);
}

}  // namespace
}  // namespace lockstep
