// Traces that programs left which announce less than this one: what comes first
// was not captured, or one of them did what the other did not. Records are
// taken out of replays of whole runs, and bisect asks "programs" that hand
// these out.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/trace_raw.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kStep = 4;
constexpr int64_t kHeadBytes = 8;  // before a record: length and checksum

// The file without the records of that operation.
void TakeOut(const std::string& path, const std::string& scope,
             const std::string& operation) {
  FileSystem& fs = *PosixFileSystem();
  const auto raw = ReadRawTrace(fs, path);
  ASSERT_TRUE(raw.ok()) << raw.status();
  ASSERT_FALSE(raw->records.empty());
  const char* const first = raw->records.front().data() - kHeadBytes;
  const char* const begin = raw->contents.get();
  std::string file(begin, static_cast<size_t>(first - begin));
  int taken = 0;
  for (const std::string_view bytes : raw->records) {
    trace::Record record;
    ASSERT_TRUE(record.ParseFromString(std::string(bytes)));
    const trace::Operation& it = record.operation();
    if (it.scope() == scope && it.operation() == operation) {
      ++taken;
    } else {
      file.append(bytes.data() - kHeadBytes, bytes.size() + kHeadBytes);
    }
  }
  ASSERT_GT(taken, 0);
  ASSERT_TRUE(WriteFileAtomically(fs, path, file).ok());
}

// A run, and a program that answers any replay with its trace of one step.
class Side {
 public:
  Side(const std::string& name, const std::string& fault) : run_(name) {
    RigOptions options = {.sets = {"checkpoint.every=2"}, .threads = 1};
    if (!fault.empty()) options.faults = {fault};
    run_.Unseed(options);
    FileSystem& fs = *PosixFileSystem();
    const auto side = TracedReplay(
        fs,
        {.run = run_.dir(), .traces = Trace(), .step = kStep, .threads = 1});
    EXPECT_TRUE(side.ok() && side->recurs) << side.status();
    run_.Write("program",
               absl::StrCat("#!/bin/sh\n"
                            "while [ $# -gt 0 ]; do\n"
                            "  [ \"$1\" = --trace ] && to=$2\n"
                            "  shift\n"
                            "done\n"
                            "cp -r '",
                            Trace(), "' \"$to\"\n", "echo '{\"steps\":[",
                            R"({"recurs":true,"differences":[]}],)",
                            R"("began_at":2,"notes":[]}')", "\n"));
    EXPECT_EQ(chmod(Program().c_str(), 0755), 0);
  }

  void Lacks(const std::string& scope, const std::string& operation) const {
    TakeOut(Trace() + "/rank_0.step_00000003.trace", scope, operation);
  }
  std::string Trace() const { return run_.dir() + "/forged"; }
  std::string Program() const { return run_.dir() + "/program"; }
  const std::string& dir() const { return run_.dir(); }

 private:
  TrainRig run_;
};

constexpr char kFault[] =
    "kind=flip,bit=22,step=4,element=300,at=layers.0.mixer.conv1d.forward";

Json Bisected(const Side& a, const Side& b) {
  const auto result = Bisect(*PosixFileSystem(), {.a = a.dir(),
                                                  .b = b.dir(),
                                                  .binary_a = a.Program(),
                                                  .binary_b = b.Program(),
                                                  .threads = 1});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? Json::parse(BisectJson(*result)) : Json();
}

void ExpectCause(const Json& json, const std::string& words) {
  ASSERT_FALSE(json["causes"].empty()) << json;
  EXPECT_NE(json["causes"][0].dump().find(words), std::string::npos)
      << json["causes"][0];
}

// Neither announces what parts: who was given it is not blamed.
TEST(ForgedTraceTest, WhatWasNotCapturedIsReceived) {
  const Side a("forged_a", ""), b("forged_b", kFault);
  const Json whole = Bisected(a, b);
  EXPECT_EQ(whole["verdict"], "operation") << whole;
  EXPECT_EQ(whole["operation"], "conv1d");
  a.Lacks("layers.0.mixer", "conv1d");
  b.Lacks("layers.0.mixer", "conv1d");
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "received") << json;
  EXPECT_EQ(json["step"], kStep);
  EXPECT_EQ(json["scope"], "layers.0.mixer");
  EXPECT_EQ(json["operation"], "ssd_scan");
  EXPECT_EQ(json["phase"], "forward");
  ExpectCause(json, "what came first was not captured");
}

// One announces an operation that the other does not do, before they part in
// anything else.
TEST(ForgedTraceTest, WhatOnlyOneDidIsControlFlow) {
  const Side a("forged_a", ""), b("forged_b", kFault);
  b.Lacks("embeddings", "lookup");
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "control_flow") << json;
  EXPECT_EQ(json["step"], kStep);
  EXPECT_EQ(json["scope"], "embeddings");
  EXPECT_EQ(json["operation"], "lookup");
  EXPECT_EQ(json["only_in"], "a");
  EXPECT_EQ(Bisected(b, a)["only_in"], "b");
  ExpectCause(json, "one run did an operation that the other did not");
}

}  // namespace
}  // namespace lockstep
