// Whole runs over a SentencePiece model's tokens, and over shards of llm.c.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/token_format.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

void WriteFile(const std::string& path, const std::string& contents) {
  ASSERT_TRUE(WriteFileAtomically(*PosixFileSystem(), path, contents).ok());
}

std::string GoldenModel() {
  return *PosixFileSystem()->ReadFile(
      "tests/oracle/golden/sentencepiece.model");
}

// Documents of many kinds of bytes, some of them no UTF-8.
std::string Text() {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    absl::StrAppend(&text, "  Paragraph ", i, ": the work of the people,\r\n",
                    i % 7 == 0 ? "caf\xC3\xA9 \xE2\x96\x81 \xFF\xFE" : "as is",
                    "\t and more.\n\n");
  }
  return text;
}

class TokenizerRunTest : public testing::Test {
 protected:
  TokenizerRunTest() {
    WriteFile(testing::TempDir() + "/tok.model", GoldenModel());
    WriteFile(testing::TempDir() + "/text.txt", Text());
    recipe_ = WriteRecipe("tokenizer",
                          "tokenizer = \"tok.model\"\n"
                          "validation_fraction = 0.05\n[[data.source]]\n"
                          "text = \"text.txt\"\ndocument_bytes = 500\n"
                          "[model]\nvocab = 0\n");
  }
  std::string recipe_;
};

TEST_F(TokenizerRunTest, TrainsEvaluatesAndWritesWithItsOwnCopyOfTheModel) {
  const TrainRig rig("tokenizer");
  rig.Unseed({.recipe = recipe_, .steps = 2});
  const Json manifest = Json::parse(rig.Read("manifest.json"));
  EXPECT_EQ(manifest["tokenizer"]["name"], "sentencepiece");
  const std::string hash = manifest["tokenizer"]["hash"];
  EXPECT_EQ(rig.Read("data/tokenizer-" + hash.substr(0, 16) + ".model"),
            GoldenModel());
  EvalOptions eval;
  eval.run_dir = rig.dir();
  eval.recipe = recipe_;
  eval.sets = {"train.steps=2", "schedule.length=20", "data.sequence=32",
               "batch.global=8", "eval.samples=0"};
  eval.text = testing::TempDir() + "/scored.txt";
  eval.json = true;
  const auto scored = EvalVerb(eval);
  ASSERT_TRUE(scored.ok()) << std::string(scored.status().message());
  const std::string text = *PosixFileSystem()->ReadFile(eval.text);
  // All held-out bytes but those of the first token.
  EXPECT_GT(text.size(), 400u);
  EXPECT_TRUE(Text().ends_with(text));
  const Json part = Json::parse(scored->text)["sources"][0];
  EXPECT_EQ(part["bytes"], text.size());
  EXPECT_NEAR(part["bits_per_byte"].get<double>(),
              part["loss"].get<double>() * part["tokens"].get<double>() /
                  0.6931471805599453 / static_cast<double>(text.size()),
              1e-9);
  // The recipe's file is gone; the run's copy serves.
  ASSERT_TRUE(
      PosixFileSystem()->Remove(testing::TempDir() + "/tok.model").ok());
  GenerateVerbOptions generate;
  generate.run_dir = rig.dir();
  generate.prompt = "the people";
  generate.tokens = 5;
  const auto written = GenerateVerb(generate);
  ASSERT_TRUE(written.ok()) << std::string(written.status().message());
  EXPECT_EQ(written->text.substr(0, 10), "the people");
}

// The verbs that only read a run want its own copy, and name it; a launch of
// the run makes it again, also when nothing is left to train.
TEST_F(TokenizerRunTest, ALostCopyIsNamedAndMadeAgainByALaunch) {
  const TrainRig rig("lost_copy");
  const RigOptions options = {.recipe = recipe_, .steps = 2};
  const std::string unseed = rig.Unseed(options);
  const std::string hash =
      Json::parse(rig.Read("manifest.json"))["tokenizer"]["hash"];
  const std::string copy =
      absl::StrCat("data/tokenizer-", hash.substr(0, 16), ".model");
  ASSERT_TRUE(PosixFileSystem()->Remove(rig.dir() + "/" + copy).ok());
  GenerateVerbOptions generate;
  generate.run_dir = rig.dir();
  generate.prompt = "the people";
  generate.tokens = 5;
  const absl::Status refused = GenerateVerb(generate).status();
  EXPECT_EQ(ExitCodeFor(refused), 2);
  for (const char* part : {"the run's copy of its tokenizer is gone",
                           copy.c_str(), "lockstep train"}) {
    EXPECT_TRUE(absl::StrContains(refused.message(), part))
        << part << " is not in " << refused.message();
  }
  EXPECT_FALSE(rig.Exists(copy));
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Read(copy), GoldenModel());
  EXPECT_TRUE(GenerateVerb(generate).ok());
}

TEST_F(TokenizerRunTest, AChangedModelIsNoResume) {
  const TrainRig rig("changed_model");
  rig.Unseed({.recipe = recipe_, .steps = 4, .until = 2});
  // A model that differs in its last byte alone: the same pieces.
  const std::string path = testing::TempDir() + "/tok.model";
  WriteFile(path,
            GoldenModel() + std::string("\x22\x00", 2));  // an empty field
  const RigResult changed = rig.Train({.recipe = recipe_, .steps = 4});
  EXPECT_EQ(ExitCodeFor(changed.status), 3);
  EXPECT_NE(std::string(changed.status.message()).find("tokenizer"),
            std::string::npos);
  WriteFile(path, GoldenModel());
  rig.Unseed({.recipe = recipe_, .steps = 4});
}

TEST_F(TokenizerRunTest, AVocabularyBelowTheModelsIsRefused) {
  const TrainRig rig("small_vocab");
  const RigResult result =
      rig.Train({.recipe = recipe_, .sets = {"model.vocab=300"}, .steps = 1});
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_NE(std::string(result.status.message()).find("512"),
            std::string::npos);
}

std::string Shard(int first, int count) {
  std::string out;
  for (const int32_t word : {20240520, 1, count}) AppendLittle(word, out);
  out.resize(1024);
  for (int i = first; i < first + count; ++i) {
    AppendLittle(static_cast<uint16_t>(i % 37 == 0 ? 50256 : i * i % 40000),
                 out);
  }
  return out;
}

// Two shards are what one of all their tokens is, and a resume continues.
TEST(ShardRunTest, ShardsTrainAsOneRowOfTokens) {
  const std::string dir = testing::TempDir() + "/llmc";
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(dir).ok());
  WriteFile(dir + "/t_0.bin", Shard(0, 1000));
  WriteFile(dir + "/t_1.bin", Shard(1000, 1500));
  WriteFile(dir + "/all.bin", Shard(0, 2500));
  std::string metrics;
  for (const char* path : {"llmc/t_*.bin", "llmc/all.bin"}) {
    const std::string recipe =
        WriteRecipe("shards",
                    "reset_at_documents = true\n"
                    "validation_fraction = 0.1\n" +
                        Source(path) + "[model]\nvocab = 50257\n");
    const TrainRig rig("shards");
    rig.Unseed({.recipe = recipe, .steps = 2, .until = 1});
    rig.Unseed({.recipe = recipe, .sets = {"eval.every=2"}, .steps = 2});
    const std::string lines = absl::StrCat(rig.Metrics()[0], rig.Metrics()[1]);
    if (metrics.empty()) metrics = lines;
    EXPECT_EQ(lines, metrics);
    // GPT-2's ids are no bytes: no bits per byte are made up.
    const Json line = Json::parse(rig.Read("eval.jsonl"));
    EXPECT_TRUE(line["bits_per_byte"].is_null()) << line;
    EXPECT_GT(line["tokens"], 100);
  }
}

}  // namespace
}  // namespace lockstep
