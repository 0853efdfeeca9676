// The recipes beside this code are TOML, and the ones that others rely on say
// what they must. Their keys are checked where all sections are known.

#include <string>

#include "determinism/file_system.h"
#include "gtest/gtest.h"
#include "recipes/files.h"
#include "recipes/value.h"

namespace lockstep {
namespace {

Value Shipped(const std::string& name) {
  auto files = LoadFiles("recipes/" + name, [](const std::string& path) {
    return PosixFileSystem()->ReadFile(path);
  });
  EXPECT_TRUE(files.ok()) << files.status();
  return files.ok() ? files->root : Value();
}

std::string TextOf(const Value& root, const std::string& section,
                   const std::string& key) {
  const Value* table = section.empty() ? &root : root.Member(section);
  const Value* value = table == nullptr ? nullptr : table->Member(key);
  return value == nullptr ? "(absent)" : CanonicalText(*value);
}

TEST(Files, APathOfNothingIsRefused) {
  const auto files = LoadFiles("", [](const std::string& path) {
    return PosixFileSystem()->ReadFile(path);
  });
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.status().message().find("cannot be read"), std::string::npos);
}

TEST(Shipped, AllParse) {
  auto names = PosixFileSystem()->List("recipes");
  ASSERT_TRUE(names.ok()) << names.status();
  int parsed = 0;
  for (const std::string& name : *names) {
    if (name.ends_with(".toml")) {
      EXPECT_NE(TextOf(Shipped(name), "model", "pattern"), "(absent)") << name;
      ++parsed;
    }
  }
  EXPECT_GE(parsed, 4);
}

TEST(Shipped, DebugKeepsAllItsCheckpointsAndIsBitwise) {
  const Value debug = Shipped("debug.toml");
  EXPECT_EQ(TextOf(debug, "", "guarantee"), "\"bitwise\"");
  EXPECT_EQ(TextOf(debug, "model", "pattern"), "\"M-M*-\"");
  EXPECT_EQ(TextOf(debug, "model", "hidden"), "64");
  EXPECT_EQ(TextOf(debug, "model", "groups"), "4");
  EXPECT_EQ(TextOf(debug, "checkpoint", "keep"), "1000000");
}

// The key table of the project's measuring model.
TEST(Shipped, Hybrid100mIsTheModelOfTheMeasurements) {
  const Value root = Shipped("hybrid_100m.toml");
  const struct {
    const char* section;
    const char* key;
    const char* text;
  } kExpected[] = {{"model", "pattern", "\"M-M-M*-M-M-M*-M-M\""},
                   {"model", "hidden", "768"},
                   {"model", "ffn", "3072"},
                   {"model", "heads", "12"},
                   {"model", "kv_heads", "4"},
                   {"model", "head_dim", "64"},
                   {"model", "mamba_heads", "24"},
                   {"model", "mamba_head_dim", "64"},
                   {"model", "groups", "4"},
                   {"model", "state", "128"},
                   {"model", "vocab", "16384"},
                   {"data", "sequence", "2048"},
                   {"batch", "global", "16"},
                   {"batch", "micro", "2"},
                   {"grid", "tensor", "4"},
                   {"grid", "leaf", "1"},
                   {"precision", "mode", "\"bf16\""}};
  for (const auto& expected : kExpected) {
    EXPECT_EQ(TextOf(root, expected.section, expected.key), expected.text)
        << expected.section << "." << expected.key;
  }
  EXPECT_EQ(CanonicalText(*root.Member("data")->Member("source")),
            CanonicalText(
                *Shipped("quickstart.toml").Member("data")->Member("source")));
}

}  // namespace
}  // namespace lockstep
