#include "tools/doctor/doctor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/fault.h"
#include "determinism/file_system.h"
#include "tools/doctor/fault_points.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

Examination Here() {
  return {.threads = 2,
          .isa = BestIsa(),
          .folder = testing::TempDir(),
          .broken = false};
}

TEST(DoctorTest, ThisMachineIsSound) {
  const Examination examination = Here();
  const std::vector<DoctorFinding> findings = Examine(examination);
  ASSERT_EQ(findings.size(), 11u);
  for (const DoctorFinding& finding : findings) {
    EXPECT_TRUE(finding.good)
        << finding.name << ": " << finding.result.faults.front();
    EXPECT_EQ(finding.result.injected, 0) << finding.name;
    EXPECT_NE(finding.result.summary, "") << finding.name;
  }
  const std::string text = DoctorText(findings, examination);
  EXPECT_NE(text.find("this machine is sound"), std::string::npos) << text;
  const Json json = Json::parse(DoctorJson(findings, examination));
  EXPECT_TRUE(json["sound"].get<bool>());
  EXPECT_EQ(json["checks"].size(), 11u);
  EXPECT_EQ(json["machine"]["used"], NameOf(BestIsa()));
}

TEST(DoctorTest, EveryCheckFires) {
  Examination examination = Here();
  examination.broken = true;
  const std::vector<DoctorFinding> findings = Examine(examination);
  ASSERT_EQ(findings.size(), 11u);
  std::set<std::string> absent;
  for (const DoctorFinding& finding : findings) {
    EXPECT_TRUE(finding.good)
        << finding.name << ": " << finding.result.faults.size() << " of "
        << finding.result.injected;
    if (finding.result.injected == 0) absent.insert(finding.name);
  }
  for (const std::string& name : absent) {
    EXPECT_TRUE(name == "MPI" || name == "CUDA") << name;
  }
  EXPECT_NE(DoctorText(findings, examination).find("every check fires"),
            std::string::npos);
}

// A canary that does not fire, and an unsound machine, are told as such.
TEST(DoctorTest, TheVerdictFollowsTheFindings) {
  Examination examination = Here();
  std::vector<DoctorFinding> findings = {
      {.name = "a", .fault = "x", .result = {.summary = "s"}, .good = true},
      {.name = "b",
       .fault = "y",
       .result = {.summary = "s", .faults = {"wrong"}, .injected = 0},
       .good = false}};
  const std::string unsound = DoctorText(findings, examination);
  EXPECT_NE(unsound.find("UNSOUND  b"), std::string::npos) << unsound;
  EXPECT_NE(unsound.find("THIS MACHINE IS UNSOUND"), std::string::npos);
  EXPECT_FALSE(Json::parse(DoctorJson(findings, examination))["sound"]);
  examination.broken = true;
  findings[1].result = {.summary = "s", .faults = {}, .injected = 2};
  const std::string silent = DoctorText(findings, examination);
  EXPECT_NE(silent.find("SILENT   b"), std::string::npos) << silent;
  EXPECT_NE(silent.find("found 0 of 2"), std::string::npos) << silent;
  EXPECT_FALSE(Json::parse(DoctorJson(findings, examination))["fires"]);
}

TEST(DoctorTest, TheFileProbeLeavesNothingAndNamesAMissingFolder) {
  Examination examination = Here();
  examination.folder = testing::TempDir() + "/doctor_files";
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(examination.folder).ok());
  for (const DoctorCheck& check : AllDoctorChecks()) {
    if (std::string(check.name) != "files") continue;
    EXPECT_TRUE(check.run(examination).faults.empty());
    EXPECT_TRUE(PosixFileSystem()->List(examination.folder)->empty());
    examination.folder = "/proc/no_such";
    EXPECT_FALSE(check.run(examination).faults.empty());
  }
}

// What the list says can be said to --fault.
TEST(FaultPlacesTest, KindsAndPointsAreThoseOfTheInjector) {
  const FaultPlaces places = AllFaultPlaces();
  ASSERT_EQ(places.kinds.size(), static_cast<size_t>(kFaultKindCount));
  for (int i = 0; i < kFaultKindCount; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    EXPECT_EQ(places.kinds[static_cast<size_t>(i)].at, NameOf(kind));
    std::string text = absl::StrCat("kind=", NameOf(kind));
    const std::string keys = KeysOf(kind);
    const std::vector<std::string> all = absl::StrSplit(keys, ' ');
    for (const std::string& key : all) {
      if (!key.ends_with('!')) continue;
      const std::string name = key.substr(0, key.size() - 1);
      const bool at = name == "at";
      absl::StrAppend(
          &text, ",", name, "=",
          at ? (kind == FaultKind::kDropCollective ? "weights.all_gather"
                                                   : "layers.0.norm")
             : "1");
    }
    const auto spec = ParseFault(text);
    EXPECT_TRUE(spec.ok()) << text << ": "
                           << std::string(spec.status().message());
  }
  const std::string text = FaultPlacesText();
  for (const auto& list : {places.points, places.operations, places.files}) {
    for (const FaultPlace& place : list) {
      EXPECT_NE(text.find(place.at), std::string::npos);
      EXPECT_NE(place.what, "") << place.at;
    }
  }
  EXPECT_EQ(Json::parse(FaultPlacesJson())["operations"].size(),
            places.operations.size());
}

}  // namespace
}  // namespace lockstep
