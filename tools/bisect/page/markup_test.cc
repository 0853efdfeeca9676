#include "tools/bisect/page/markup.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tools/bisect/page/png.h"

namespace lockstep {
namespace {

TEST(MarkupTest, WhatNoPageMayHoldIsReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(Escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(Escaped(std::string("x\0\x1b y\n", 6)), "x" + bad + bad + " y\n");
  EXPECT_EQ(Escaped("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(Escaped("\xc3"), bad);
  EXPECT_EQ(Escaped("\xc0\xbc"), bad + bad);            // an overlong '<'
  EXPECT_EQ(Escaped("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(Escaped("\xe2\x82<"), bad + bad + "&lt;");
}

TEST(MarkupTest, ElementsAreClosed) {
  EXPECT_EQ(Element("p", "a\"b", "<"), "<p class=\"a&quot;b\">&lt;</p>");
  EXPECT_EQ(Element("td", "", ""), "<td></td>");
  EXPECT_EQ(Percent(1, 0, 4), "25.00%");
  EXPECT_EQ(Percent(1, 2, 2), "0.00%");
}

uint32_t U32At(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return value;
}

// Chunk by chunk: lengths, checksums, and the pixels as they were.
TEST(PngTest, HoldsItsPixels) {
  const std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::string png = PngBytes(1, 2, pixels);
  ASSERT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string packed, types;
  for (size_t at = 8; at < png.size();) {
    const uint32_t length = U32At(png, at);
    const std::string body = png.substr(at + 4, 4 + length);
    types += body.substr(0, 4);
    EXPECT_EQ(U32At(png, at + 8 + length),
              crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                    static_cast<uInt>(body.size())));
    if (body.starts_with("IDAT")) packed = body.substr(4);
    at += 12 + length;
  }
  EXPECT_EQ(types, "IHDRIDATIEND");
  EXPECT_EQ(U32At(png, 16), 1u);
  EXPECT_EQ(U32At(png, 20), 2u);
  std::vector<uint8_t> rows(10);
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(rows.data(), &size,
                       reinterpret_cast<const Bytef*>(packed.data()),
                       static_cast<uLong>(packed.size())),
            Z_OK);
  EXPECT_EQ(rows, (std::vector<uint8_t>{0, 1, 2, 3, 4, 0, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace lockstep
