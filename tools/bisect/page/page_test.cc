#include "tools/bisect/page/page.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "tools/bisect/page/page_for_test.h"
#include "tools/bisect/page/page_reader.h"

namespace lockstep {
namespace {

const std::set<std::string> kSections = {
    "verdict", "timeline", "sure",        "cause", "tensor",
    "scopes",  "ranks",    "differences", "notes", "commands"};

ReadPage Read(const BisectResult& result) {
  ReadPage page = ReadPageText(BisectPage(result));
  EXPECT_EQ(page.error, "");
  return page;
}

std::string TextOf(const ReadPage& page, const std::string& id) {
  const PageElement* section = page.Find("id", id);
  return section == nullptr ? "" : section->text;
}

TEST(BisectPageTest, EverySectionIsThereAndSaysWhatTheResultHas) {
  const ReadPage page = Read(ResultForTest());
  std::set<std::string> sections;
  for (const PageElement& element : page.elements) {
    if (element.name == "section") {
      sections.insert(element.attributes.at("id"));
    }
  }
  EXPECT_EQ(sections, kSections);
  const auto expect = [&](const std::string& id, const std::string& text) {
    EXPECT_NE(TextOf(page, id).find(text), std::string::npos)
        << id << ": " << TextOf(page, id);
  };
  expect("verdict", "operation: layers.0.<b>mixer in_proj, step 7");
  expect("verdict", "fingerprint.<grads>");
  expect("timeline", "step 7 is the first that differs");
  expect("sure", "sure & <certain>");
  expect("cause", "a <cause>");
  expect("tensor", "1 of 6 elements differ, the first at [1, 2]");
  expect("ranks", "parts here first");
  expect("ranks", "follows, by a message");
  expect("differences", "a & b");
  expect("notes", "a note <br>");
  expect("commands", "lockstep bisect '<a>' b");
}

TEST(BisectPageTest, NothingIsFetchedAndNothingRuns) {
  for (const PageElement& element : Read(ResultForTest()).elements) {
    for (const char* banned : {"script", "link", "iframe", "object", "base"}) {
      EXPECT_NE(element.name, banned);
    }
    for (const auto& [name, value] : element.attributes) {
      EXPECT_FALSE(name.starts_with("on")) << name;
      EXPECT_NE(name, "href");
      EXPECT_EQ(value.find("//"), std::string::npos) << value;
      if (name == "src") {
        EXPECT_TRUE(value.starts_with("data:image/png;base64,"));
      }
    }
    if (element.name == "style") {
      EXPECT_EQ(element.text.find("url("), std::string::npos);
      EXPECT_EQ(element.text.find("@import"), std::string::npos);
    }
  }
}

// The text of a hostile name is all there, and none of it is markup.
TEST(BisectPageTest, NamesStayText) {
  const ReadPage page = Read(ResultForTest());
  const std::string shown =
      "runs/</code><script>alert(1)</script>\"'&amp;\xef\xbf\xbd\xef\xbf\xbd";
  EXPECT_NE(TextOf(page, "timeline").find(shown), std::string::npos);
  EXPECT_NE(TextOf(page, "differences").find(shown), std::string::npos);
}

std::string CellsOf(const ReadPage& page, const std::string& scope) {
  std::string cells;
  bool inside = false;
  for (const PageElement& element : page.elements) {
    const auto css = element.attributes.find("class");
    if (css == element.attributes.end()) continue;
    if (css->second.starts_with("scope")) inside = element.text == scope;
    if (inside && element.attributes.contains("title")) {
      absl::StrAppend(&cells, element.attributes.at("title"), ";");
    }
  }
  return cells;
}

TEST(BisectPageTest, TheTreeHasAStateOfEachRank) {
  const ReadPage page = Read(ResultForTest());
  EXPECT_EQ(CellsOf(page, "lookup"), "rank 0: equal;rank 1: equal;");
  EXPECT_EQ(CellsOf(page, "in_proj"), "rank 0: equal;rank 1: origin;");
  EXPECT_EQ(CellsOf(page, "out_proj"), "rank 0: receiver;rank 1: receiver;");
  EXPECT_EQ(CellsOf(page, "<b>mixer"), "rank 0: receiver;rank 1: origin;");
}

TEST(BisectPageTest, WhatIsNotKnownIsSaid) {
  BisectResult equal;
  equal.verdict = "equal";
  const ReadPage page = Read(equal);
  for (const std::string& id : kSections) {
    if (id == "commands") continue;
    EXPECT_NE(TextOf(page, id), "") << id;
  }
  BisectResult once = ResultForTest();
  once.trace.reset();
  once.tree = {};
  once.elements.reset();
  once.map.reset();
  once.odd_one = "b";
  EXPECT_NE(TextOf(Read(once), "verdict").find("does not come back"),
            std::string::npos);
}

// The reader of these tests finds what it is there for.
TEST(PageReaderTest, WhatIsNotWellFormedIsFound) {
  const std::string start = "<!DOCTYPE html><html>";
  EXPECT_EQ(ReadPageText(start + "<p a=\"1\">x &amp; y</p></html>\n").error,
            "");
  for (const char* broken :
       {"<p></html>", "</html></html>", "x & y</html>", "<p a=1></p></html>",
        "<p a=\"<\"></p></html>", "<p>\x01</p></html>", "<p></p>",
        "<p a=\"1\" a=\"2\"></p></html>", "</html><html></html>"}) {
    EXPECT_NE(ReadPageText(start + broken).error, "") << broken;
  }
}

}  // namespace
}  // namespace lockstep
