// Lists of hosts as Slurm writes them.
#include "tools/launch/host_list.h"

#include <gtest/gtest.h>

#include "determinism/status.h"

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

TEST(HostListTest, NodeListsAreExpandedInOrderAndAsWideAsWritten) {
  EXPECT_EQ(*ExpandNodeList("alone"), Names{"alone"});
  EXPECT_EQ(*ExpandNodeList("a,b1"), (Names{"a", "b1"}));
  EXPECT_EQ(*ExpandNodeList("n[08-10,3],login"),
            (Names{"n08", "n09", "n10", "n3", "login"}));
  EXPECT_EQ(*ExpandNodeList("r[1-2]x"), (Names{"r1x", "r2x"}));
  for (const char* bad :
       {"", "n[", "n]", "n[1-2", "n[2-1]", "n[a]", "a,,b", "n[1][2]",
        "n[1-99999999999]", "n[0000000000000000001-2]"}) {
    EXPECT_EQ(ExitCodeFor(ExpandNodeList(bad).status()), 2) << bad;
  }
}

TEST(HostListTest, SlotsAreThoseOfTheNodes) {
  const auto hosts = SlurmHosts("n[1-4]", "2(x3),1");
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  ASSERT_EQ(hosts->size(), 4u);
  EXPECT_EQ((*hosts)[2].slots, 2);
  EXPECT_EQ((*hosts)[3].slots, 1);
  EXPECT_EQ(HostOfRank(*hosts, 0), "n1");
  EXPECT_EQ(HostOfRank(*hosts, 5), "n3");
  EXPECT_EQ(HostOfRank(*hosts, 6), "n4");
  EXPECT_EQ(HostOfRank(*hosts, 7), "");
  EXPECT_EQ(HostOfRank(*hosts, -1), "");
  for (const char* bad : {"", "2", "2(x5)", "0(x4)", "2(x4", "2(y4)"}) {
    EXPECT_EQ(ExitCodeFor(SlurmHosts("n[1-4]", bad).status()), 2) << bad;
  }
}

}  // namespace
}  // namespace lockstep
