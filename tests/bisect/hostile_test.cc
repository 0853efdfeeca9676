// Folders of runs that something else wrote to, and answers of programs that
// are not what they should be: whoever reads them says what is wrong, where,
// and what to do, and no text ends the program.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "determinism/file_system.h"
#include "determinism/sha256.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/asked_replay.h"
#include "tools/bisect/bisect.h"
#include "tools/compare/compare_verb.h"
#include "tools/diff/diff_verb.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

TEST(ReplayAnswerTest, OnlyAWholeOneIsTaken) {
  const std::string good =
      R"({"steps":[{"recurs":true,"differences":["loss"]}],)"
      R"("began_at":4,"notes":["n"]})";
  const auto side = ReadReplayAnswer(good);
  ASSERT_TRUE(side.ok()) << side.status();
  EXPECT_TRUE(side->recurs);
  EXPECT_EQ(side->began_at, 4);
  EXPECT_EQ(side->fields, std::vector<std::string>{"loss"});
  EXPECT_EQ(side->notes, std::vector<std::string>{"n"});
  for (const char* text :
       {"", "no JSON", "null", "[]", "7", "{}", R"({"steps":7})",
        R"({"steps":[],"began_at":4,"notes":[]})",
        R"({"steps":[{},{}],"began_at":4,"notes":[]})",
        R"({"steps":[7],"began_at":4,"notes":[]})",
        R"({"steps":[{}],"began_at":4,"notes":[]})",
        R"({"steps":[{"recurs":"yes","differences":[]}],"began_at":4,)"
        R"("notes":[]})",
        R"({"steps":[{"recurs":true}],"began_at":4,"notes":[]})",
        R"({"steps":[{"recurs":true,"differences":[1]}],"began_at":4,)"
        R"("notes":[]})",
        R"({"steps":[{"recurs":true,"differences":{}}],"began_at":4,)"
        R"("notes":[]})",
        R"({"steps":[{"recurs":true,"differences":[]}],"notes":[]})",
        R"({"steps":[{"recurs":true,"differences":[]}],"began_at":"4",)"
        R"("notes":[]})",
        R"({"steps":[{"recurs":true,"differences":[]}],"began_at":4,)"
        R"("notes":"n"})"}) {
    const auto answer = ReadReplayAnswer(text);
    ASSERT_FALSE(answer.ok()) << text;
    EXPECT_FALSE(answer.status().message().empty()) << text;
  }
}

std::vector<std::string> HostileLines() {
  return {
      "",
      "\n",
      "null\n",
      "[]\n",
      "{}\n",
      "\"step\"\n",
      "{\"step\":\"7\"}\n",
      "{\"step\":7.5,\"loss\":1}\n",
      "{\"step\":18446744073709551615,\"loss\":1}\n",
      "{\"step\":-7,\"loss\":1}\n",
      "{\"step\":1,\"loss\":\"x\",\"fingerprint\":7,\"tokens_per_s\":[],"
      "\"mfu\":{},\"step_ms\":\"1\",\"tokens_seen\":\"9\",\"pid\":\"1\","
      "\"host\":1,\"generation\":null,\"launches\":7,\"faults\":{}}\n",
      "{\"step\":1,\"fingerprint\":{\"state\":1,\"loss\":[]}}\n",
      "{\"step\":4,\"loss\":1,\"tokens\":\"many\",\"samples\":[]}\n",
      "{\"step\":1,\"x\":\"\xff\"}\n",
      "{\"step\":1,\"x\":" + std::string(200'000, '[') +
          std::string(200'000, ']') + "}\n",
      std::string(200'000, '{'),
  };
}

// A line that holds by its own check, whatever its fields.
void AppendToLedger(const TrainRig& rig, const std::string& fields) {
  const auto ledger = ReadLedger(*PosixFileSystem(), rig.dir());
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  const LedgerEntry& last = ledger->entries.back();
  const std::string body =
      absl::StrCat("{\"seq\":", last.seq + 1, ",\"time_ms\":", last.time_ms,
                   ",", fields, ",\"prev\":\"", last.sha256, "\"");
  rig.Write("ledger.jsonl", rig.Read("ledger.jsonl") + body + ",\"sum\":\"" +
                                Sha256Hex(body).substr(0, 16) + "\"}\n");
  ASSERT_EQ(ReadLedger(*PosixFileSystem(), rig.dir())->entries.size(),
            ledger->entries.size() + 1);
}

class HostileFolderTest : public testing::Test {
 protected:
  HostileFolderTest() : a_("hostile_a"), b_("hostile_b") {
    RigOptions options = {.sets = {"checkpoint.every=2", "eval.every=2"},
                          .steps = 4,
                          .threads = 1};
    a_.Unseed(options);
    options.faults = {
        "kind=flip,bit=22,step=3,element=77,at=layers.0.mixer.in_proj.forward"};
    b_.Unseed(options);
  }

  // Everything that reads folders; an error has its three parts.
  void ReadAll(const std::string& about) {
    const std::string a = a_.dir(), b = b_.dir();
    const std::vector<std::function<absl::Status()>> readers = {
        [&] {
          return DiffVerb({a, b, true}).status();
        },
        [&] {
          return DiffVerb({b, a}).status();
        },
        [&] { return StatusVerb({.run_dir = b}).status(); },
        [&] { return StatusVerb({.run_dir = b, .json = true}).status(); },
        [&] {
          return CompareVerb({.baseline = {a},
                              .candidate = {b},
                              .min_effect = 0.1,
                              .allow_unmatched = "a test"})
              .status();
        },
        [&] {
          return Bisect(*PosixFileSystem(), {.a = a, .b = b, .threads = 1})
              .status();
        },
        [&] { return ExplainVerb({.run_dir = b, .step = 3}).status(); },
        [&] {
          return ReplayVerb({.run_dir = b, .from = 3, .to = 3}).status();
        }};
    for (size_t i = 0; i < readers.size(); ++i) {
      const absl::Status status = readers[i]();
      const std::string message(status.message());
      EXPECT_TRUE(status.ok() || (absl::StrContains(message, "where:") &&
                                  absl::StrContains(message, "do:")))
          << about << ", reader " << i << ": " << status;
      answers_ += status.ok();
    }
  }

  void ReadWith(const std::string& file, const std::string& contents) {
    const std::string before = b_.Exists(file) ? b_.Read(file) : "";
    b_.Write(file, contents);
    ReadAll(absl::StrCat(file, ": ", contents.substr(0, 60)));
    b_.Write(file, before);
  }

  const TrainRig a_, b_;
  int answers_ = 0;
};

TEST_F(HostileFolderTest, LinesOfStepsAndEvaluations) {
  const std::string steps = b_.Read("metrics.jsonl");
  for (const std::string& text : HostileLines()) {
    ReadWith("metrics.jsonl", text);
    ReadWith("metrics.jsonl", steps + text);
    ReadWith("eval.jsonl", text);
  }
  EXPECT_GT(answers_, 0);
}

TEST_F(HostileFolderTest, SmallFiles) {
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(b_.dir() + "/ranks").ok());
  for (const std::string& text : HostileLines()) {
    for (const char* file : {"faults.json", "lock", "ranks/0.json"}) {
      ReadWith(file, text);
    }
    ReadWith("manifest.json", text);
  }
  EXPECT_GT(answers_, 0);
}

TEST_F(HostileFolderTest, LinesOfALedgerThatHold) {
  const std::string before = b_.Read("ledger.jsonl");
  for (const char* fields :
       {R"("event":"stop","step":"last","error":7)",
        R"("event":"stop","step":[],"error":{"a":[]},"steps":"many")",
        R"("event":"launch","step":{},"threads":"two","manifest":7)",
        R"("event":"resume","step":-1,"manifest":"launches/none.json")",
        R"("event":"spike","step":"x","what":7,"value":"x","limit":[])",
        R"("event":"skip_list","first":"x","last":{},"adopted_at":[])",
        R"("event":"layout_change","step":18446744073709551615,"bits":7)",
        R"("event":"\u0000","manifest":"/")"}) {
    AppendToLedger(b_, fields);
    ReadAll(fields);
    b_.Write("ledger.jsonl", before);
  }
  EXPECT_GT(answers_, 0);
}

}  // namespace
}  // namespace lockstep
