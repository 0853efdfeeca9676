// Refusals say what differs and how to go on; FORMAT.md shows the table.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ckpt/manifest_compare.h"
#include "ckpt/manifest_for_test.h"
#include "determinism/guarantee.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status Check(const Manifest& current,
                   const std::vector<std::string>& allow,
                   const std::string& reason) {
  return CheckDifferences(
      CompareManifests(Sample(), current, Guarantee::kBitwise), allow, reason);
}

TEST(Check, RefusalNamesAllKeysBothValuesAndTheWayOut) {
  Manifest m = WithKey("optimizer.lr = 0.001", "optimizer.lr = 0.002");
  m.compiler = "GCC 13";
  m.layout.threads = 8;
  const absl::Status status = Check(m, {}, "");
  EXPECT_EQ(ExitCodeFor(status), 3);
  const std::string text(status.message());
  for (const char* part : {"optimizer.lr: saved 0.001, now 0.002",
                           "compiler: saved GCC 12.2.0 -c opt, now GCC 13",
                           "--allow compiler,optimizer.lr --reason TEXT"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("threads"), std::string::npos);
  EXPECT_EQ(ExitCodeFor(Check(m, {"compiler"}, "why")), 3);
  EXPECT_TRUE(Check(m, {"compiler", "optimizer.lr"}, "why").ok());
  const auto differences = CompareManifests(Sample(), m, Guarantee::kBitwise);
  EXPECT_EQ(AllowedDifferences(differences, {"compiler"}).size(), 1u);
}

TEST(Check, AllowDirtyAdmitsAnUnstampedBuild) {
  const Manifest m = With([](Manifest& m) {
    m.code = {"c0ffee", true, std::string(64, '9'), false};
  });
  EXPECT_EQ(ExitCodeFor(Check(m, {}, "")), 3);
  EXPECT_TRUE(Check(m, {"dirty"}, "trying a fix").ok());
}

TEST(Check, AllowedByGroupAndWithoutNeed) {
  const Manifest m = With([](Manifest& m) {
    m.layout.data = 4;
    m.layout.world = 8;
  });
  EXPECT_TRUE(Check(m, {"layout"}, "lost a host").ok());
  EXPECT_TRUE(Check(m, {"layout", "dirty"}, "lost a host").ok());
  EXPECT_EQ(ExitCodeFor(Check(m, {"lay"}, "lost a host")), 2);
}

TEST(Check, NeverCannotBeAllowed) {
  const Manifest m = With([](Manifest& m) { m.tokenizer.hash = "other"; });
  const absl::Status status = Check(m, {"tokenizer"}, "I insist");
  EXPECT_EQ(ExitCodeFor(status), 3);
  EXPECT_NE(std::string(status.message()).find("never accepted"),
            std::string::npos);
}

TEST(Check, AllowNeedsAReasonAndAKnownKey) {
  EXPECT_EQ(ExitCodeFor(Check(Sample(), {"dirty"}, "")), 2);
  const absl::Status status = Check(Sample(), {"dirtty"}, "why");
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_NE(std::string(status.message()).find("\"dirty\""), std::string::npos);
  EXPECT_TRUE(Check(Sample(), {"dirty"}, "why").ok());
}

TEST(Table, FormatMdShowsIt) {
  std::ifstream file("ckpt/FORMAT.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(DifferenceTable()), std::string::npos)
      << "FORMAT.md must hold:\n"
      << DifferenceTable();
}

}  // namespace
}  // namespace lockstep
