// A value that is known and not built is refused, whatever its kind: a flag
// that is accepted and does nothing lets its user believe in it.

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace {

struct ReservedConfig {
  bool flag = false;
  int64_t level = 1;
};

void DescribeSection(Section& s, ReservedConfig& c) {
  s.Reserved("flag", {"true"}, "not built yet");
  s.Bool("flag", c.flag, {.help = "a flag"});
  s.Reserved("level", {"3"}, "not built yet");
  s.Int("level", c.level, {.min = 1, .help = "a level"});
}

std::string MessageOf(const std::string& text) {
  auto recipe = Recipe::FromText(text, "t.toml");
  EXPECT_TRUE(recipe.ok());
  recipe->Read<ReservedConfig>("r");
  return std::string(recipe->Finish().message());
}

TEST(Reserved, ABoolAndAnIntegerAreRefused) {
  EXPECT_EQ(MessageOf("[r]\nflag = true\nlevel = 3\n"),
            "2 errors in t.toml\n"
            "  t.toml:2: r.flag = true: not built yet\n"
            "  t.toml:3: r.level = 3: not built yet");
}

TEST(Reserved, OtherValuesOfTheKeyAreAccepted) {
  EXPECT_EQ(MessageOf("[r]\nflag = false\nlevel = 2\n"), "");
}

}  // namespace
}  // namespace lockstep
