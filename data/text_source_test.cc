#include "data/text_source.h"

#include <cstdint>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "data/text_test.h"
#include "determinism/check.h"
#include "determinism/memory_file_system.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

Texts DocumentsOf(FileSystem& fs, const Texts& inputs, int64_t document_bytes) {
  const auto documents =
      Documents(fs, inputs, {.document_bytes = document_bytes});
  LS_CHECK(documents.ok()) << MessageOf(documents.status());
  return *documents;
}

TEST(TextSourceTest, FoldersAreWalkedInTheOrderOfNames) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/b.txt", "b");
  WriteTestFile(fs, "/c/a/z", "z");
  WriteTestFile(fs, "/c/a/B", "B");
  WriteTestFile(fs, "/c/a.txt", "a");
  WriteTestFile(fs, "/c/.hidden", "h");
  WriteTestFile(fs, "/c/empty", "");
  WriteTestFile(fs, "/first", "1");
  EXPECT_EQ(DocumentsOf(fs, {"/first", "/c"}, 0),
            (std::vector<std::string>{"1", "B", "z", "a", "b", ""}));
  const auto list = ListTextFiles(fs, {"/c"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->hidden_files, (std::vector<std::string>{"/c/.hidden"}));
}

TEST(TextSourceTest, BlankLinesCutDocuments) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/t", "ab\n\ncd\nef\n\n\n\ngh\r\n\r\nij\n\n");
  EXPECT_EQ(DocumentsOf(fs, {"/t"}, 1),
            (std::vector<std::string>{"ab\n\n", "cd\nef\n\n\n\n", "gh\r\n\r\n",
                                      "ij\n\n"}));
  EXPECT_EQ(DocumentsOf(fs, {"/t"}, 5),
            (std::vector<std::string>{"ab\n\ncd\nef\n\n\n\n", "gh\r\n\r\n",
                                      "ij\n\n"}));
  EXPECT_EQ(DocumentsOf(fs, {"/t"}, 1000).size(), 1u);
  EXPECT_EQ(DocumentsOf(fs, {"/t"}, 0).size(), 1u);
}

// Files beyond one piece (256 KiB), with a blank line on and around the seam.
TEST(TextSourceTest, PiecesDoNotShowInDocuments) {
  constexpr size_t kPiece = size_t{1} << 18;
  int64_t checked = 0;
  for (size_t at = kPiece - 4; at <= kPiece + 2; ++at) {
    MemoryFileSystem fs;
    std::string text(2 * kPiece + 17, 'x');
    text[at] = '\n';
    text[at + 1] = '\n';
    WriteTestFile(fs, "/t", text);
    EXPECT_EQ(DocumentsOf(fs, {"/t"}, 1),
              (std::vector<std::string>{text.substr(0, at + 2),
                                        text.substr(at + 2)}));
    EXPECT_EQ(DocumentsOf(fs, {"/t"}, 0), std::vector<std::string>{text});
    ++checked;
  }
  EXPECT_EQ(checked, 7);
}

TEST(TextSourceTest, WhatCannotBeReadIsRefused) {
  MemoryFileSystem fs;
  ExpectTextRefused(fs, "/none", {"no such text file", "/none"});
  ASSERT_TRUE(fs.MakeDirs("/e").ok());
  ExpectTextRefused(fs, "/e", {"no text to prepare: files of no size, 0,"});
  WriteTestFile(fs, "/e/empty", "");
  ExpectTextRefused(fs, "/e", {"no text to prepare: files of no size, 1,"});
  for (const char* name : {"/a/c.tar", "/b/c.tar.gz", "/c/c.parquet"}) {
    WriteTestFile(fs, name, "x");
    ExpectTextRefused(fs, DirName(name), {"is not text", name});
  }
}

}  // namespace
}  // namespace lockstep
