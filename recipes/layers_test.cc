// Which of several settings wins, and that the others are not forgotten. A
// checkpoint's options overrode the command line without a word in
// NVIDIA/Megatron-LM#2616; here nothing but file, base and --set can set.

#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "recipes/recipe.h"
#include "recipes/test_sections.h"

namespace lockstep {
namespace {

using recipes_test::All;
using recipes_test::MessageOf;
using recipes_test::ReadAll;
using recipes_test::Sound;
using ::testing::AllOf;
using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& text) {
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(fs.MakeDirs(DirName(path)).ok());
  auto file = fs.Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->Append(text).ok());
  ASSERT_TRUE((*file)->Close().ok());
}

std::string LoadMessage(const std::string& path) {
  const auto recipe = Recipe::Load(*PosixFileSystem(), path, {});
  EXPECT_FALSE(recipe.ok());
  EXPECT_EQ(recipe.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(recipe.status().message());
}

RecipeEntry EntryOf(const Recipe& recipe, const std::string& path) {
  for (const RecipeEntry& entry : recipe.Entries()) {
    if (entry.path() == path) {
      return entry;
    }
  }
  ADD_FAILURE() << "no entry " << path;
  return {};
}

class Chain : public ::testing::Test {
 protected:
  void SetUp() override {
    Write(dir_ + "/base/root.toml",
          "[model]\nhidden = 64\n[optimizer]\nlr = 0.1\nweight_decay = 0.2\n"
          "[[data.source]]\npath = \"corpus\"\n");
    Write(dir_ + "/base/mid.toml",
          "extends = \"root.toml\"\n[optimizer]\nlr = 0.2\n");
    Write(dir_ + "/top.toml",
          "extends = \"base/mid.toml\"\n[optimizer]\n\nlr = 0.3\n");
  }

  Recipe Load(const std::vector<std::string>& sets) {
    auto recipe = Recipe::Load(*PosixFileSystem(), dir_ + "/top.toml", sets);
    EXPECT_TRUE(recipe.ok()) << recipe.status();
    all_ = ReadAll(*recipe);
    EXPECT_TRUE(recipe->Finish().ok()) << recipe->Finish();
    return *std::move(recipe);
  }

  // A folder a test.
  const std::string dir_ =
      ::testing::TempDir() + "layers_test_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  All all_;
};

TEST_F(Chain, EachLayerKeepsWhatTheNextDoesNotSay) {
  const Recipe recipe = Load({});
  EXPECT_EQ(EntryOf(recipe, "model.hidden").source, dir_ + "/base/root.toml:2");
  EXPECT_EQ(EntryOf(recipe, "optimizer.weight_decay").source,
            dir_ + "/base/root.toml:5");
  EXPECT_EQ(EntryOf(recipe, "optimizer.lr").source, dir_ + "/top.toml:4");
  EXPECT_EQ(EntryOf(recipe, "optimizer.lr").value, "0.3");
  EXPECT_EQ(EntryOf(recipe, "batch.micro").source, "default");
  EXPECT_EQ(recipe.name(), "top");
  EXPECT_EQ(recipe.base_dir(), dir_);
}

TEST_F(Chain, CommandLineOverFileOverBaseOverDefaultWithEveryLoserTold) {
  const Recipe recipe = Load({"optimizer.lr=5e-4", "batch.micro=4"});
  EXPECT_EQ(all_.optimizer.lr, 5e-4);
  EXPECT_EQ(EntryOf(recipe, "optimizer.lr").source, "--set");
  const std::vector<RecipeConflict> conflicts = recipe.Conflicts();
  ASSERT_EQ(conflicts.size(), 1u);  // a default that lost is no conflict
  EXPECT_EQ(conflicts[0].path, "optimizer.lr");
  EXPECT_EQ(conflicts[0].value, "5e-04");
  EXPECT_EQ(conflicts[0].source, "--set");
  ASSERT_EQ(conflicts[0].overridden.size(), 3u);
  EXPECT_EQ(conflicts[0].overridden[0].value, "0.3");
  EXPECT_EQ(conflicts[0].overridden[0].source, dir_ + "/top.toml:4");
  EXPECT_EQ(conflicts[0].overridden[1].source, dir_ + "/base/mid.toml:3");
  EXPECT_EQ(conflicts[0].overridden[2].value, "0.1");
  EXPECT_EQ(conflicts[0].overridden[2].source, dir_ + "/base/root.toml:4");
}

TEST_F(Chain, AnOverrideDoesNotOutliveItsRecipe) {
  Load({"optimizer.lr=5e-4"});
  EXPECT_EQ(all_.optimizer.lr, 5e-4);
  Load({});
  EXPECT_EQ(all_.optimizer.lr, 0.3);
}

TEST_F(Chain, APathCountsFromTheFileThatSaysIt) {
  Load({});
  EXPECT_EQ(all_.data.sources.at(0).path, dir_ + "/base/corpus");
  const Recipe recipe = Load({"data.source.0.path=other"});
  EXPECT_EQ(all_.data.sources.at(0).path, dir_ + "/other");
  EXPECT_EQ(EntryOf(recipe, "data.source.0.path").value, "\"other\"");
  Load({"data.source.0.path=/abs"});
  EXPECT_EQ(all_.data.sources.at(0).path, "/abs");
}

TEST_F(Chain, ABrokenOneIsRefusedWithItsPlace) {
  Write(dir_ + "/a.toml", "seed = 1\nextends = \"base/../b.toml\"\n");
  Write(dir_ + "/b.toml", "extends = \"a.toml\"\n");
  EXPECT_THAT(LoadMessage(dir_ + "/a.toml"),
              AllOf(HasSubstr(dir_ + "/a.toml -> " + dir_ + "/b.toml -> " +
                              dir_ + "/a.toml"),
                    HasSubstr("where: " + dir_ + "/b.toml:1")));
  Write(dir_ + "/self.toml", "extends = \"self.toml\"\n");
  EXPECT_THAT(LoadMessage(dir_ + "/self.toml"), HasSubstr("circle"));
  Write(dir_ + "/lost.toml", "\nextends = \"nowhere.toml\"\n");
  EXPECT_THAT(LoadMessage(dir_ + "/lost.toml"),
              AllOf(HasSubstr(dir_ + "/nowhere.toml cannot be read"),
                    HasSubstr("where: " + dir_ + "/lost.toml:2")));
  Write(dir_ + "/typed.toml", "extends = [\"top.toml\"]\n");
  EXPECT_THAT(LoadMessage(dir_ + "/typed.toml"),
              HasSubstr("is not the path of a recipe"));
  Write(dir_ + "/bad_base.toml", "extends = \"bad.toml\"\n");
  Write(dir_ + "/bad.toml", "seed = 1\nseed = 2\n");
  EXPECT_THAT(LoadMessage(dir_ + "/bad_base.toml"),
              HasSubstr(dir_ + "/bad.toml:2: given twice"));
  EXPECT_THAT(LoadMessage(dir_ + "/none.toml"), HasSubstr("cannot be read"));
  EXPECT_THAT(MessageOf("extends = \"b.toml\"\n"),
              HasSubstr("a recipe in memory extends nothing"));
}

TEST(Set, TakesTomlAndBareWords) {
  All all;
  Sound("",
        {"guarantee=layout_invariant", "seed= 0x10 ", "model.cuts=[1, 2]",
         "optimizer.betas=[0.5,0.75]", "checkpoint.async=false",
         "model.dropout=0"},
        &all);
  EXPECT_EQ(all.top.guarantee, "layout_invariant");
  EXPECT_EQ(all.top.seed, 16);
  EXPECT_EQ(all.model.cuts, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(all.optimizer.betas, (std::vector<double>{0.5, 0.75}));
  EXPECT_FALSE(all.checkpoint.async);
  EXPECT_EQ(all.model.dropout, 0.0);
}

TEST(Set, BeginsAndChangesEntriesOfAnArrayOfTables) {
  All all;
  Sound("",
        {"data.source.0.path=a", "data.source.0.weight=0.5",
         "data.source.1.path=M-M*-"},
        &all);
  ASSERT_EQ(all.data.sources.size(), 2u);
  EXPECT_EQ(all.data.sources[0].path, "a");
  EXPECT_EQ(all.data.sources[0].weight, 0.5);
  EXPECT_EQ(all.data.sources[1].path, "M-M*-");
  Sound("[[data.source]]\npath = \"a\"\n", {"data.source=[{path=\"z\"}]"},
        &all);
  ASSERT_EQ(all.data.sources.size(), 1u);
  EXPECT_EQ(all.data.sources[0].path, "z");
}

TEST(Set, AShorterArrayTellsWhatIsGone) {
  const Recipe recipe =
      Sound("[[data.source]]\npath = \"a\"\n[[data.source]]\npath = \"b\"\n",
            {"data.source=[{path=\"a\"}]"});
  const std::vector<RecipeConflict> conflicts = recipe.Conflicts();
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].path, "data.source.1.path");
  EXPECT_EQ(conflicts[0].value, "(gone)");
  EXPECT_EQ(conflicts[0].overridden.at(0).source, "t.toml:4");
}

TEST(Set, OfTwoForAKeyTheLastWinsAndTheFirstIsTold) {
  All all;
  const Recipe recipe = Sound("", {"seed=1", "seed=2"}, &all);
  EXPECT_EQ(all.top.seed, 2);
  ASSERT_EQ(recipe.Conflicts().size(), 1u);
  EXPECT_EQ(recipe.Conflicts()[0].overridden.at(0).value, "1");
}

TEST(Set, RefusesWhatLeadsNowhere) {
  const auto error = [](const std::string& set) {
    return MessageOf("seed = 1\n[model]\nhidden = 64\n", {set});
  };
  EXPECT_THAT(error("seed"), HasSubstr("--set seed: no '='"));
  EXPECT_THAT(error("=4"), HasSubstr("\"\" is no key"));
  EXPECT_THAT(error("a..b=4"), HasSubstr("\"a..b\" is no key"));
  EXPECT_THAT(error("seed="), HasSubstr("no value after '='"));
  EXPECT_THAT(error("seed.x=4"),
              HasSubstr("seed is an integer at t.toml:1, so it has no key x"));
  EXPECT_THAT(error("data.source.1.path=a"),
              HasSubstr("source has no entries yet; nearest valid index: 0"));
  EXPECT_THAT(error("guarantee=\"bitwise"), HasSubstr("not TOML"));
  EXPECT_THAT(error("model.cuts=[1"), HasSubstr("not TOML"));
  EXPECT_THAT(error("model.cuts=[1]\nseed = 4"), HasSubstr("several lines"));
  EXPECT_THAT(error("extends=x"), HasSubstr("stands in a file only"));
  EXPECT_THAT(error("data.source.99999999999999999999.path=a"),
              HasSubstr("nearest valid index: 0"));
}

}  // namespace
}  // namespace lockstep
