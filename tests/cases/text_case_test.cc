// Text and its preparation: what is in the cache is what the text is now.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

std::string WriteText(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  EXPECT_TRUE(WriteFileAtomically(*PosixFileSystem(), path, text).ok());
  return path;
}

std::string TextRecipe(const std::string& name, const std::string& path,
                       const std::string& more = "") {
  return WriteSmallRecipe(
      name, absl::StrCat("[[data.source]]\ntext = \"", path, "\"\n", more));
}

// Paragraphs that differ from each other; `first` is the first letter.
std::string Paragraphs(char first) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&text, std::string(1, static_cast<char>(first + i % 20)),
                    " paragraph ", 100 + i, " of some text\n\n");
  }
  return text;
}

std::set<std::string> Prepared(const TrainRig& rig) {
  std::set<std::string> names;
  for (const std::string& name : rig.List("data")) {
    if (absl::EndsWith(name, ".idx")) names.insert(name);
  }
  return names;
}

// A cached index did not know whose it was: another file of the same name, or
// the same file edited, met the old one (LianjiaTech/BELLE#328,
// huggingface/datasets#2956). Same path, same number of bytes, other text.
TEST(TextCaseTest, AnEditedTextOfTheSameSizeIsPreparedAnew) {
  const std::string path = WriteText("edited.txt", Paragraphs('a'));
  const RigOptions options = {
      .recipe = TextRecipe("edited", path, "document_bytes = 30\n"),
      .steps = 8,
      .until = 3};
  const TrainRig rig = SmallRig("edited"), fresh = SmallRig("edited_fresh");
  rig.Unseed(options);
  const std::set<std::string> first = Prepared(rig);
  ASSERT_EQ(first.size(), 1u);
  WriteText("edited.txt", Paragraphs('a'));  // touched, and nothing else
  rig.Unseed(options);
  EXPECT_EQ(Prepared(rig), first);

  WriteText("edited.txt", Paragraphs('b'));
  RigOptions more = options;
  more.until = 6;
  EXPECT_EQ(ExitCodeFor(rig.Train(more).status), 3);  // not this run's data
  EXPECT_EQ(Prepared(rig).size(), 2u);
  more.resume = "never";
  rig.Unseed(more);
  more.resume = "auto";
  fresh.Unseed(more);
  EXPECT_TRUE(SameLines(rig.Metrics(), fresh.Metrics()));
}

// The key lacked the version of the code, and labels made by a fixed fault were
// used on (allenai/open-instruct#1815). The key is the hash of a text whose
// first line is the version.
TEST(TextCaseTest, TheKeyOfPreparedTextHoldsTheFormatsVersion) {
  const std::string text = Paragraphs('c');
  const RigOptions options = {
      .recipe = TextRecipe("version", WriteText("version.txt", text)),
      .sets = {"data.validation_fraction=0"},
      .steps = 8,
      .until = 1};
  const TrainRig rig = SmallRig("version");
  rig.Unseed(options);
  const auto key = [&](int version) {
    return absl::StrCat(
        "text-",
        Sha256Hex(absl::StrCat("lockstep prepared text ", version,
                               "\ntokenizer ",
                               (*MakeTokenizer("byte"))->identity(),
                               "\ndocument_bytes 0\nfile ", text.size(), " ",
                               Sha256Hex(text), "\n"))
            .substr(0, 32),
        ".idx");
  };
  EXPECT_EQ(Prepared(rig), std::set<std::string>{key(1)});
  EXPECT_NE(key(2), key(1));
}

// One process built the index while others looked for it, or it was left half
// built (deepspeedai/Megatron-DeepSpeed#356, NVIDIA/Megatron-LM#907). Killed at
// each of its writes and renames, the preparation begins again.
TEST(TextCaseTest, APreparationThatWasKilledIsDoneAgain) {
  const std::string path = WriteText("killed.txt", Paragraphs('d'));
  const RigOptions options = {
      .recipe = TextRecipe("killed", path, "document_bytes = 30\n"),
      .steps = 8,
      .until = 2};
  const TrainRig clean = SmallRig("killed_clean");
  const std::string unseed = clean.Unseed(options);
  int64_t kills = 0;
  for (const char* at : {"create", "write", "sync", "close", "rename"}) {
    for (int occurrence = 1; occurrence <= 2; ++occurrence) {
      const TrainRig rig = SmallRig("killed");
      RigOptions killed = options;
      killed.faults = {absl::StrCat("kind=kill,at=save.tokens.", at,
                                    ",occurrence=", occurrence)};
      rig.TrainUntilKilled(killed);
      EXPECT_EQ(rig.Unseed(options), unseed) << killed.faults[0];
      EXPECT_TRUE(SameLines(rig.Metrics(), clean.Metrics()));
      EXPECT_EQ(Prepared(rig), Prepared(clean));
      ++kills;
    }
  }
  EXPECT_EQ(kills, 10);
}

// Empty documents, first, last or all; documents shorter than a sample and as
// long as one; lines of blanks (NVIDIA/Megatron-LM#62, deepseek-ai/DeepSpec#79,
// openai/gpt-2-output-dataset#51). Every token of 97 documents is some sample's
// once an epoch.
TEST(TextCaseTest, DocumentsOfAnyLengthAreCoveredOnce) {
  constexpr int64_t kLengths[] = {0, 1, 2, 7, 16, 33, 64};
  std::string lines = " \n";
  int64_t tokens = 0;
  for (int i = 0; i < 97; ++i) {
    const int64_t length = i == 96 ? 0 : kLengths[i % 7];
    absl::StrAppend(&lines, "{\"text\": \"",
                    std::string(static_cast<size_t>(length),
                                static_cast<char>('A' + i % 26)),
                    "\"}\n", i % 10 == 0 ? "  \n" : "");
    tokens += length + 1;  // its end
  }
  const RigOptions options = {
      .recipe = TextRecipe("lengths", WriteText("lengths.jsonl", lines)),
      .sets = {"data.validation_fraction=0", "batch.global=12"},
      .steps = 12};
  const TrainRig rig = SmallRig("lengths");
  rig.Unseed(options);
  const int64_t samples = (tokens - 1) / kSmallSequence;
  std::set<int64_t> first_tokens;
  int64_t consumed = 0;
  for (const auto& step : Consumed(rig, options)) {
    for (const SampleLocation& at : step) {
      if (consumed++ >= samples) break;
      EXPECT_EQ(at.first_token % kSmallSequence, 0);
      first_tokens.insert(at.first_token / kSmallSequence);
    }
  }
  EXPECT_EQ(first_tokens.size(), static_cast<size_t>(samples));
  EXPECT_EQ(*first_tokens.rbegin(), samples - 1);
  EXPECT_GT(consumed, samples);
}

TEST(TextCaseTest, NothingButEmptyDocumentsTrainsOrIsRefusedByName) {
  std::string lines;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&lines, "{\"text\": \"\"}\n");
  const TrainRig rig = SmallRig("all_empty"), none = SmallRig("no_line");
  const RigOptions options = {
      .recipe = TextRecipe("all_empty", WriteText("empty.jsonl", lines)),
      .sets = {"data.validation_fraction=0"},
      .steps = 8,
      .until = 3};
  rig.Unseed(options);
  EXPECT_EQ(Lines(rig)[2]["valid_tokens"], 4 * kSmallSequence);
  const RigResult result = none.Train(
      {.recipe = TextRecipe("no_line", WriteText("blank.jsonl", " \n\n"))});
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_TRUE(absl::StrContains(result.status.message(), "blank.jsonl"))
      << result.status.message();
}

}  // namespace
}  // namespace lockstep
