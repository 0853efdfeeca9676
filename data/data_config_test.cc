#include "data/data_config.h"

#include <string>

#include "data/test_files.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace {

std::string ErrorOf(const std::string& text) {
  auto recipe = Recipe::FromText(text, "corpora/r.toml");
  LS_CHECK(recipe.ok()) << MessageOf(recipe.status());
  recipe->Read<DataConfig>("data");
  const absl::Status status = recipe->Finish();
  if (!status.ok()) {
    EXPECT_EQ(ExitCodeFor(status), 2);
  }
  return MessageOf(status);
}

TEST(DataConfigTest, ReadsItsKeys) {
  auto recipe = Recipe::FromText(R"(
[data]
sequence = 64
validation_fraction = 0.125
[[data.source]]
text = "corpus"
document_bytes = 4096
field = "body"
)",
                                 "corpora/r.toml");
  ASSERT_TRUE(recipe.ok()) << MessageOf(recipe.status());
  const DataConfig config = recipe->Read<DataConfig>("data");
  ASSERT_TRUE(recipe->Finish().ok()) << MessageOf(recipe->Finish());
  EXPECT_EQ(config.sequence, 64);
  EXPECT_EQ(config.tokenizer, "byte");
  EXPECT_EQ(config.validation_fraction, 0.125);
  ASSERT_EQ(config.sources.size(), 1u);
  EXPECT_EQ(config.sources[0].text, "corpora/corpus");
  EXPECT_EQ(config.sources[0].path, "");
  EXPECT_EQ(config.sources[0].document_bytes, 4096);
  EXPECT_EQ(config.sources[0].field, "body");
}

TEST(DataConfigTest, ReadsABlend) {
  auto recipe = Recipe::FromText(R"(
[data]
reset_at_documents = true
[[data.source]]
path = "a"
weight = 0.25
[[data.source]]
path = "b"
[[data.weights_schedule]]
from_sample = 1000
weights = [0, 1]
)",
                                 "corpora/r.toml");
  ASSERT_TRUE(recipe.ok()) << MessageOf(recipe.status());
  const DataConfig config = recipe->Read<DataConfig>("data");
  ASSERT_TRUE(recipe->Finish().ok()) << MessageOf(recipe->Finish());
  EXPECT_TRUE(config.reset_at_documents);
  ASSERT_EQ(config.sources.size(), 2u);
  EXPECT_EQ(config.sources[0].weight, 0.25);
  EXPECT_EQ(config.sources[1].weight, 1);
  ASSERT_EQ(config.weights_schedule.size(), 1u);
  EXPECT_EQ(config.weights_schedule[0].from_sample, 1000);
  EXPECT_EQ(config.weights_schedule[0].weights, (std::vector<double>{0, 1}));
}

TEST(DataConfigTest, RefusesWhatCannotBe) {
  const std::string source = "[[data.source]]\n";
  const std::string text = source + "text = \"c\"\n";
  const std::string stage = "[[data.weights_schedule]]\n";
  const std::pair<std::string, std::string> cases[] = {
      {"[data]\nsequence = 8\n", "no [[data.source]]"},
      {source, "either `path` or `text`"},
      {text + "path = \"p\"\n", "either `path` or `text`"},
      {source + "path = \"p\"\ndocument_bytes = 1\n", "document_bytes"},
      {text + "document_bytes = -1\n", "document_bytes"},
      {text + "weight = -0.5\n", "weight"},
      {text + "weight = nan\n", "weight"},
      {text + "weight = 0\n", "all weights are zero"},
      {text + "weight = 0\n" + text + "weight = 0.0\n", "all weights are zero"},
      {text + stage + "weights = [1]\n", "from_sample"},
      {text + stage + "from_sample = 9\nweights = [1, 2]\n", "one weight"},
      {text + stage + "from_sample = 9\nweights = [0]\n", "all weights"},
      {text + stage + "from_sample = 9\nweights = [-1]\n", "weights"},
      {text + stage + "from_sample = 9\nweights = [1]\n" + stage +
           "from_sample = 9\nweights = [1]\n",
       "does not ascend"},
      {source + "path = \"p\"\nfield = \"body\"\n", "have no fields"},
      {"[data]\nweights_schedule = 1\n" + text, "weights_schedule"},
      {"[data]\nsequence = 0\n" + text, "sequence"},
      {"[data]\nvalidation_fraction = 1.0\n" + text, "validation_fraction"},
      {"[data]\ntokenizer = \"bite\"\n" + text, "byte"},
      {"[data]\nsequense = 8\n" + text, "sequence"},
  };
  for (const auto& [recipe, expected] : cases) {
    const std::string message = ErrorOf(recipe);
    EXPECT_NE(message.find(expected), std::string::npos)
        << recipe << "gave: " << message;
  }
  EXPECT_EQ(ErrorOf(text), "");
}

}  // namespace
}  // namespace lockstep
