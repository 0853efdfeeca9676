#include "tools/foreign_json.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

TEST(ForeignJsonTest, AFieldOfAnotherTypeIsNone) {
  const Json json = ParseForeign(
      R"({"n":7,"big":18446744073709551615,"real":7.5,"text":"x","null":null})");
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(WholeField(json, "n"), 7);
  EXPECT_EQ(NumberField(json, "n"), 7.0);
  EXPECT_EQ(NumberField(json, "real"), 7.5);
  EXPECT_EQ(TextField(json, "text"), "x");
  for (const char* key : {"big", "real", "text", "null", "none"}) {
    EXPECT_EQ(WholeField(json, key), std::nullopt) << key;
  }
  EXPECT_EQ(NumberField(json, "text"), std::nullopt);
  EXPECT_EQ(TextField(json, "n"), std::nullopt);
  EXPECT_EQ(WholeField(Json(3), "n"), std::nullopt);
  EXPECT_EQ(TextField(Json(), "n"), std::nullopt);
}

TEST(ForeignJsonTest, WhatIsNoneOrTooDeepIsDiscarded) {
  EXPECT_TRUE(ParseForeign("").is_discarded());
  EXPECT_TRUE(ParseForeign("{\"a\":").is_discarded());
  EXPECT_TRUE(ParseForeign("{\"a\":\"\xff\"}").is_discarded());
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseForeign(nested(kDeepestJson)).is_array());
  EXPECT_TRUE(ParseForeign(nested(kDeepestJson + 2)).is_discarded());
  EXPECT_TRUE(ParseForeign(nested(1'000'000)).is_discarded());
}

TEST(ForeignJsonTest, AnyBytesCanBePrinted) {
  EXPECT_EQ(DumpForeign(Json{{"a", "x\xff"}}), "{\"a\":\"x\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace lockstep
