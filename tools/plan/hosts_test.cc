#include "tools/plan/hosts.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::StatusOr<std::vector<Host>> Read(const std::string& text) {
  MemoryFileSystem fs;
  EXPECT_TRUE(WriteFileAtomically(fs, "/hosts", text).ok());
  return ReadHosts(fs, "/hosts");
}

TEST(HostsTest, AFileNamesHostsAndTheirRanks) {
  const auto hosts =
      Read("# two\nnode01 slots=8\n\n node02\tslots=4 # half\nx");
  ASSERT_TRUE(hosts.ok()) << std::string(hosts.status().message());
  ASSERT_EQ(hosts->size(), 3u);
  EXPECT_EQ((*hosts)[0].name, "node01");
  EXPECT_EQ((*hosts)[0].slots, 8);
  EXPECT_EQ((*hosts)[1].slots, 4);
  EXPECT_EQ((*hosts)[2].slots, 1);
  EXPECT_EQ(SlotsOf(*hosts), 13);
}

TEST(HostsTest, WhatIsNoHostIsToldByItsLine) {
  const auto refused = [](const std::string& text, const std::string& told) {
    const absl::Status status = Read(text).status();
    EXPECT_EQ(ExitCodeFor(status), 2) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), told))
        << text << ": " << std::string(status.message());
  };
  refused("a slots=8\nb slots=0\n", "/hosts:2");
  refused("a slots=8\nb slots=eight\n", "'slots=eight'");
  refused("a slots=99999999999999999999\n", "/hosts:1");
  refused("a slots=1 max_slots=2\n", "'max_slots=2'");
  refused("a slots=1\na slots=1\n", "host a stands here twice");
  refused("slots=8\n", "'slots=8' is no host's name");
  refused("a\n-x slots=1\n", "'-x' is no host's name");
  refused(
      "\xef\xbb\xbf"
      "a\n",
      "is no host's name");
  refused("a;touch$IFS/x\n", "is no host's name");
  refused("# nothing\n\n", "names no host");
  refused("", "names no host");
  MemoryFileSystem fs;
  EXPECT_EQ(ExitCodeFor(ReadHosts(fs, "/nowhere").status()), 2);
}

TEST(HostsTest, HostsAlikeHaveNamesAndTheLastOneTheRest) {
  const std::vector<Host> hosts = EvenHosts(20, 8);
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[2].name, "host2");
  EXPECT_EQ(hosts[2].slots, 4);
  const std::vector<int> of = HostOfRanks(hosts, 20);
  ASSERT_EQ(of.size(), 20u);
  EXPECT_EQ(of[7], 0);
  EXPECT_EQ(of[8], 1);
  EXPECT_EQ(of[19], 2);
}

TEST(HostsTest, ALostHostIsOneOfThem) {
  const auto left = WithoutHosts(EvenHosts(24, 8), {"host1"});
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(SlotsOf(*left), 16);
  EXPECT_EQ((*left)[1].name, "host2");
  EXPECT_EQ(HostOfRanks(*left, 16)[8], 1);
  const absl::Status unknown =
      WithoutHosts(EvenHosts(24, 8), {"host1", "hots2"}).status();
  EXPECT_EQ(ExitCodeFor(unknown), 2);
  EXPECT_TRUE(absl::StrContains(unknown.message(), "the nearest name is host2"))
      << std::string(unknown.message());
}

}  // namespace
}  // namespace lockstep
