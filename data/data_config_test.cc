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
}

TEST(DataConfigTest, RefusesWhatCannotBe) {
  const std::string source = "[[data.source]]\n";
  const std::string text = source + "text = \"c\"\n";
  const std::pair<std::string, std::string> cases[] = {
      {"[data]\nsequence = 8\n", "no [[data.source]]"},
      {source, "either `path` or `text`"},
      {text + "path = \"p\"\n", "either `path` or `text`"},
      {text + text, "blends are not built yet"},
      {source + "path = \"p\"\ndocument_bytes = 1\n", "document_bytes"},
      {text + "document_bytes = -1\n", "document_bytes"},
      {text + "weight = 0.5\n", "not built yet"},
      {text + "field = \"body\"\n", "not built yet"},
      {"[data]\nreset_at_documents = true\n" + text, "not built yet"},
      {"[data]\nweights_schedule = 1\n" + text, "not built yet"},
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
