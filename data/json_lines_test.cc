#include <cstdint>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "data/text_test.h"
#include "determinism/memory_file_system.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(JsonLinesTest, ALineIsADocument) {
  MemoryFileSystem fs;
  WriteTestFile(
      fs, "/c.jsonl",
      "{\"text\":\"a\\nb\"}\n"
      " {\"id\": 7, \"text\" : \"\", \"meta\":{\"text\":1}} \r\n"
      "{\"m\":[{\"text\":3}],\"text\":\"\\u00e9\\ud83d\\ude00\\u0000\"}");
  const auto documents = Documents(fs, {"/c.jsonl"});
  ASSERT_TRUE(documents.ok()) << MessageOf(documents.status());
  EXPECT_EQ(*documents,
            (Texts{"a\nb", "", std::string("\xC3\xA9\xF0\x9F\x98\x80\0", 7)}));
}

TEST(JsonLinesTest, AnotherFieldIsChosenByName) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c.jsonl", "{\"text\":\"a\",\"body\":\"b\"}\n");
  WriteTestFile(fs, "/d.json", "{\"body\":\"d\"}\n");
  EXPECT_EQ(*Documents(fs, {"/c.jsonl", "/d.json"}, {.field = "body"}),
            (Texts{"b", "d"}));
  // Without a field a .json file is text like any other: sources are corpora.
  EXPECT_EQ(*Documents(fs, {"/d.json"}), (Texts{"{\"body\":\"d\"}\n"}));
}

// NVIDIA/Megatron-LM#62, deepseek-ai/DeepSpec#79, openai/gpt-2-output-
// dataset#51: an empty document, an empty shard or a line of blanks ended the
// reading or shifted it.
TEST(JsonLinesTest, EmptyDocumentsShardsAndBlankLinesAreCountedNotFatal) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/0.jsonl", "");
  WriteTestFile(
      fs, "/c/1.jsonl",
      "{\"text\":\"\"}\n\n \t\r\n{\"text\":\"a\"}\n{\"text\":\"\"}\n");
  WriteTestFile(fs, "/c/2.jsonl", "\n\n");
  int64_t blank = -1;
  const auto documents = Documents(fs, {"/c"}, {}, &blank);
  ASSERT_TRUE(documents.ok()) << MessageOf(documents.status());
  EXPECT_EQ(*documents, (Texts{"", "a", ""}));
  EXPECT_EQ(blank, 4);
}

TEST(JsonLinesTest, ABadLineIsNamed) {
  const std::string good = "{\"text\":\"a\"}\n\n";
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"{\"text\":\"a\"", {"not a line of JSON"}},
      {"{\"text\":\"a\"} x", {"not a line of JSON", "column 14"}},
      {"{\"text\":\"a\"}{\"text\":\"b\"}", {"not a line of JSON"}},
      {"{'text':'a'}", {"not a line of JSON"}},
      {"{\"text\":\"a\",\"n\":NaN}", {"not a line of JSON"}},
      {"{\"text\":\"a\",\"n\":1e99999}",
       {"not a line of JSON", "column 23: number overflow parsing '1e99999'",
        "binary64"}},
      {"{\"text\":\"a\xFF\"}", {"not a line of JSON", "UTF-8"}},
      {"{\"text\":\"\xC3\"}", {"not a line of JSON", "UTF-8"}},
      {"{\"text\":\"\\ud800\"}", {"not a line of JSON", "surrogate"}},
      {"{\"text\":\"\\udc00x\"}", {"not a line of JSON", "surrogate"}},
      {"{\"text\":\"\\x41\"}", {"not a line of JSON"}},
      {"{\"other\":\"\\ud800\",\"text\":\"a\"}", {"not a line of JSON"}},
      {std::string("{\"text\":\"a\"}\0\0", 14), {"zero byte at column 13"}},
      {"{\"id\":1,\"content\":\"a\"}",
       {"no field \"text\"; it has: id, content", "--field"}},
      {"{}", {"no field \"text\"; it has: none"}},
      {"{\"m\":{\"text\":\"a\"}}", {"no field \"text\"; it has: m"}},
      {"{\"text\":null}", {"is null, not a string"}},
      {"{\"text\":1}", {"is a number, not a string"}},
      {"{\"text\":1.5}", {"is a number, not a string"}},
      {"{\"text\":true}", {"is a boolean, not a string"}},
      {"{\"text\":[\"a\"]}", {"is an array, not a string"}},
      {"{\"text\":{\"text\":\"a\"}}", {"is an object, not a string"}},
      {"{\"text\":\"a\",\"text\":\"b\"}", {"\"text\" 2 times"}},
      {"[\"a\"]", {"the line is an array, not a JSON object"}},
      {"[{\"text\":\"a\"}]", {"the line is an array, not a JSON object"}},
      {"\"a\"", {"the line is a string, not a JSON object"}},
      {"7", {"the line is a number, not a JSON object"}},
  };
  int64_t checked = 0;
  for (const auto& [line, told] : cases) {
    MemoryFileSystem fs;
    WriteTestFile(fs, "/c.jsonl", good + line + "\n");
    std::vector<std::string> all = told;
    all.push_back("/c.jsonl:3");
    ExpectTextRefused(fs, "/c.jsonl", all);
    ++checked;
  }
  EXPECT_EQ(checked, 27);
}

// Lines around and beyond a piece (256 KiB), and a nesting that a recursive
// parser would not survive.
TEST(JsonLinesTest, ALineMayHaveAnyLength) {
  constexpr size_t kPiece = size_t{1} << 18;
  const std::string front = "{\"text\":\"";
  int64_t checked = 0;
  for (const size_t size : {kPiece - 3, kPiece - 2, kPiece - 1, kPiece,
                            kPiece + 1, 3 * kPiece + 5}) {
    MemoryFileSystem fs;
    const std::string text(size - front.size(), 'x');
    WriteTestFile(
        fs, "/c.jsonl",
        front + text + "\"}\n" + front + "y\"}\n" + front + text + "\"}");
    const auto documents = Documents(fs, {"/c.jsonl"});
    ASSERT_TRUE(documents.ok()) << MessageOf(documents.status());
    EXPECT_TRUE(*documents == (Texts{text, "y", text})) << size;
    ++checked;
  }
  EXPECT_EQ(checked, 6);
  MemoryFileSystem fs;
  const std::string open(1000000, '[');
  const std::string close(1000000, ']');
  WriteTestFile(fs, "/c.jsonl",
                "{\"m\":" + open + close + ",\"text\":\"a\"}\n");
  EXPECT_EQ(*Documents(fs, {"/c.jsonl"}), Texts{"a"});
}

TEST(JsonLinesTest, AnOptionThatNoFileHeedsIsRefused) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c.txt", "a");
  WriteTestFile(fs, "/c.jsonl", "{\"text\":\"a\"}");
  ExpectTextRefused(fs, "/c.txt", {"\"body\" is named", "/c.txt"},
                    {.field = "body"});
  ExpectTextRefused(fs, "/c.jsonl", {"document_bytes is given", "/c.jsonl"},
                    {.document_bytes = 5});
}

}  // namespace
}  // namespace lockstep
